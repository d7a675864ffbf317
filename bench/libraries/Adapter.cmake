# Common parts of the plug-ins for other libraries.
set(PARHELION_BUILD_DIR "" CACHE PATH "Where phl-bench is")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# The plug-in phl_adapter_NAME, beside phl-bench, of NAME_adapter.cpp and more sources. VERSION: the library's, for display.
function(add_adapter name version standard)
  add_library(phl_adapter_${name} MODULE ${name}_adapter.cpp ${ARGN})
  target_include_directories(phl_adapter_${name} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_compile_definitions(phl_adapter_${name} PRIVATE PHL_ADAPTER_VERSION="${version}")
  set_target_properties(phl_adapter_${name} PROPERTIES CXX_STANDARD ${standard} CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PARHELION_BUILD_DIR})
endfunction()

# A plug-in that links MPI itself shares its process with the measuring program: both must be bound to one MPI.
function(require_same_mpi library)
  execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE needs)
  file(READ ${PARHELION_BUILD_DIR}/build.json build)
  string(JSON soname GET ${build} soname)
  string(JSON directory GET ${build} library_dir)
  string(REGEX MATCH "libmpi[a-z]*\\.so\\.[0-9]+ => ([^ \n]+)" found "${needs}")
  get_filename_component(theirs "${CMAKE_MATCH_1}" REALPATH)
  get_filename_component(ours "${directory}/${soname}" REALPATH)
  if(NOT theirs STREQUAL ours)
    message(FATAL_ERROR "${library} is bound to ${theirs}, phl-bench to ${ours}: build it for that MPI "
      "(Debian: make libraries MPI=/usr/bin/mpicxx.openmpi)")
  endif()
endfunction()

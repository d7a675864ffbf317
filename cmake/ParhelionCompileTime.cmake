# What most files include first is read once: for a small file, reading takes longer than compiling. A build without shows what a file
# forgot to include.
option(PARHELION_PRECOMPILE "Precompile the headers of the standard library and of MPI" ${PROJECT_IS_TOP_LEVEL})

set(parhelion_common_headers <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex>
  <numeric> <optional> <span> <sstream> <string> <string_view> <utility> <vector> <mpi.h>)

function(parhelion_precompile target)
  if(PARHELION_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${parhelion_common_headers} ${ARGN})
  endif()
endfunction()

# For targets with the same options as `owner`.
function(parhelion_precompile_as owner target)
  if(PARHELION_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# Many small files that include the same are compiled faster together: a dozen of a directory's as one. What works on a single file, such as
# clang-tidy, wants them apart. Files of one directory give their helpers different names then, also in unnamed namespaces.
option(PARHELION_UNITY "Compile a directory's sources together" ${PROJECT_IS_TOP_LEVEL})

# Not kernels, which are for other processors, and not `ARGN`, whose helpers have names that others have.
function(parhelion_unite target)
  if(NOT PARHELION_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/plan/kernels_")
  if(ARGN)
    list(REMOVE_ITEM sources ${ARGN})
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH directory)
    cmake_path(GET directory FILENAME name)
    math(EXPR members_${name} "${members_${name}} + 1")
    math(EXPR group "${members_${name}} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()

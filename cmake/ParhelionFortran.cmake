# The Fortran module `parhelion`, optional. It calls only the C interface and does not link MPI's
# Fortran libraries, so it works with any MPI.
set(PARHELION_FORTRAN_MISSING "")
if(NOT PARHELION_BUILD_FORTRAN)
  set(PARHELION_FORTRAN_MISSING "PARHELION_BUILD_FORTRAN is off")
elseif(PARHELION_SANITIZE)
  set(PARHELION_FORTRAN_MISSING "sanitized builds leave it out")
else()
  include(CheckLanguage)
  check_language(Fortran)
  if(NOT CMAKE_Fortran_COMPILER)
    set(PARHELION_FORTRAN_MISSING "no Fortran compiler was found (apt install gfortran, or set FC)")
  endif()
endif()

# The compiler's own header defines the layout of array descriptors; no other header of its folder
# is used.
if(NOT PARHELION_FORTRAN_MISSING)
  enable_language(Fortran)
  execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include/ISO_Fortran_binding.h
    OUTPUT_VARIABLE parhelion_fortran_guess OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(GET parhelion_fortran_guess PARENT_PATH parhelion_fortran_include)
  cmake_path(GET CMAKE_Fortran_COMPILER PARENT_PATH parhelion_fortran_bin)
  find_file(PARHELION_FORTRAN_BINDING_HEADER ISO_Fortran_binding.h
    HINTS ${parhelion_fortran_include} ${parhelion_fortran_bin}/../include ${parhelion_fortran_bin}/../include/flang)
  if(NOT PARHELION_FORTRAN_BINDING_HEADER)
    set(PARHELION_FORTRAN_MISSING "${CMAKE_Fortran_COMPILER} brings no ISO_Fortran_binding.h")
  endif()
endif()

# fypp generates the sources; any Python may have it.
if(NOT PARHELION_FORTRAN_MISSING)
  foreach(python IN ITEMS ${PARHELION_TOOLS_PYTHON} ${Python_EXECUTABLE} python3)
    execute_process(COMMAND ${python} -m fypp --version RESULT_VARIABLE parhelion_no_fypp OUTPUT_QUIET ERROR_QUIET)
    if(parhelion_no_fypp EQUAL 0)
      set(fypp ${python} -B -m fypp)
      break()
    endif()
  endforeach()
  find_program(PARHELION_FYPP fypp)
  if(NOT fypp AND PARHELION_FYPP)
    set(fypp ${PARHELION_FYPP})
  elseif(NOT fypp)
    set(PARHELION_FORTRAN_MISSING "fypp was not found, which writes its sources (pip install fypp==3.2, or apt install fypp)")
  endif()
endif()

if(PARHELION_FORTRAN_MISSING)
  message(STATUS "Fortran interface not built: ${PARHELION_FORTRAN_MISSING}")
  return()
endif()

set(fortran_dir ${PROJECT_BINARY_DIR}/fortran)
configure_file(${PARHELION_FORTRAN_BINDING_HEADER} ${fortran_dir}/include/ISO_Fortran_binding.h COPYONLY)
file(GLOB fortran_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fortran/*.cpp)
set(written_from ${PROJECT_SOURCE_DIR}/fortran/write.py ${PROJECT_SOURCE_DIR}/include/parhelion/phl.h
  ${PROJECT_SOURCE_DIR}/include/parhelion/core/kinds.h ${PROJECT_SOURCE_DIR}/include/parhelion/core/options.h
  ${PROJECT_SOURCE_DIR}/c/objects.hpp ${fortran_sources})  # write.py reads prototypes from the glue
file(GLOB fortran_templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fortran/*.fypp)
foreach(template IN LISTS fortran_templates)
  cmake_path(GET template STEM name)
  add_custom_command(OUTPUT ${fortran_dir}/${name}.f90
    COMMAND ${fypp} -M ${PROJECT_SOURCE_DIR}/fortran -m write ${template} ${fortran_dir}/${name}.f90
    DEPENDS ${template} ${written_from} VERBATIM)
  list(APPEND fortran_sources ${fortran_dir}/${name}.f90)
endforeach()
if(PARHELION_STATIC)
  add_library(parhelion_fortran STATIC ${fortran_sources})
else()
  add_library(parhelion_fortran SHARED ${fortran_sources})
endif()
add_library(parhelion::Fortran ALIAS parhelion_fortran)
set_target_properties(parhelion_fortran PROPERTIES
  EXPORT_NAME Fortran LINKER_LANGUAGE CXX SOVERSION ${PARHELION_SOVERSION}
  Fortran_MODULE_DIRECTORY ${fortran_dir}/modules)
target_include_directories(parhelion_fortran
  PRIVATE ${fortran_dir}/include ${PROJECT_SOURCE_DIR}/src
  INTERFACE $<BUILD_INTERFACE:${fortran_dir}/modules> $<INSTALL_INTERFACE:include/parhelion/modules>)
target_compile_options(parhelion_fortran PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>  # see cmake/ParhelionCompiler.cmake
  $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Wall;-std=f2018;-Wno-maybe-uninitialized;-Wno-uninitialized>)  # gfortran 12: of allocatable components
target_link_libraries(parhelion_fortran PRIVATE parhelion)
parhelion_place_in_build(parhelion_fortran)

# A build is for one MPI: its files are in one directory, and build.json describes it.
if(NOT PARHELION_BUILD)
  set(PARHELION_BUILD ${PARHELION_MPI_KIND})
endif()
if(PARHELION_BUILD MATCHES "^(mpich|openmpi|impi)$" AND NOT PARHELION_BUILD STREQUAL PARHELION_MPI_KIND)
  message(FATAL_ERROR "Build ${PARHELION_BUILD} was asked for, but ${MPI_CXX_COMPILER} belongs to ${PARHELION_MPI_VERSION}")
endif()
if(NOT PARHELION_BUILD_DIR)
  set(PARHELION_BUILD_DIR ${CMAKE_CURRENT_BINARY_DIR}/out)
endif()

set(PARHELION_MPI_RUN_PATH ${PARHELION_MPI_LIBRARY_DIR} CACHE STRING "Where binaries look for MPI")

# Omits the folders of a wheel's MPI, which is temporary: the package finds MPI at run time.
function(parhelion_write_build file)
  set(folders "\n  \"kind\": \"${PARHELION_MPI_KIND}\",\n  \"mpi_home\": \"${MPI_HOME}\",\n  \"mpiexec\": \"${MPIEXEC_EXECUTABLE}\",\n\
  \"library_dir\": \"${PARHELION_MPI_LIBRARY_DIR}\",")
  if(PARHELION_MPI_IS_WHEEL)
    set(folders "")
  endif()
  file(CONFIGURE OUTPUT ${file} CONTENT [[{
  "name": "@PARHELION_BUILD@",@folders@
  "library_version": "@PARHELION_MPI_VERSION@",
  "soname": "@PARHELION_MPI_SONAME@"
}
]] @ONLY)
endfunction()
parhelion_write_build(${PARHELION_BUILD_DIR}/build.json)

# Binaries find each other in $ORIGIN or the installation's lib, and MPI where it was at build time.
# The build tree has the run path of an installation, except for a wheel, whose run path is valid
# only after its installation.
set(parhelion_final_run_path ON)
if(SKBUILD)
  set(parhelion_final_run_path OFF)
endif()

function(parhelion_place_in_build target)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PARHELION_BUILD_DIR}
    RUNTIME_OUTPUT_DIRECTORY ${PARHELION_BUILD_DIR})
  parhelion_set_run_path(${target} $ORIGIN ${ARGN})
endfunction()

function(parhelion_set_run_path target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ${parhelion_final_run_path}
    INSTALL_RPATH "${ARGN};${PARHELION_MPI_RUN_PATH}"
    INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()

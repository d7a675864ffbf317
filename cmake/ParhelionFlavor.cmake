# A flavor is a build against one MPI: its files stand in one directory, told by flavor.json.
if(NOT PARHELION_FLAVOR)
  set(PARHELION_FLAVOR ${PARHELION_MPI_KIND})
endif()
if(PARHELION_FLAVOR MATCHES "^(mpich|openmpi|impi)$" AND NOT PARHELION_FLAVOR STREQUAL PARHELION_MPI_KIND)
  message(FATAL_ERROR "Flavor ${PARHELION_FLAVOR} was asked for, but ${MPI_CXX_COMPILER} belongs to ${PARHELION_MPI_VERSION}")
endif()
if(NOT PARHELION_FLAVOR_DIR)
  set(PARHELION_FLAVOR_DIR ${CMAKE_CURRENT_BINARY_DIR}/flavor)
endif()

set(PARHELION_MPI_RUN_PATH ${PARHELION_MPI_LIBRARY_DIR} CACHE STRING "Where binaries look for MPI")

# Without folders where the MPI is one that comes and goes: it is looked for when the package runs.
function(parhelion_write_flavor file)
  set(folders "\n  \"kind\": \"${PARHELION_MPI_KIND}\",\n  \"mpi_home\": \"${MPI_HOME}\",\n  \"mpiexec\": \"${MPIEXEC_EXECUTABLE}\",\n\
  \"library_dir\": \"${PARHELION_MPI_LIBRARY_DIR}\",")
  if(PARHELION_MPI_IS_WHEEL)
    set(folders "")
  endif()
  file(CONFIGURE OUTPUT ${file} CONTENT [[{
  "name": "@PARHELION_FLAVOR@",@folders@
  "library_version": "@PARHELION_MPI_VERSION@",
  "soname": "@PARHELION_MPI_SONAME@"
}
]] @ONLY)
endfunction()
parhelion_write_flavor(${PARHELION_FLAVOR_DIR}/flavor.json)

# What a flavor holds finds its neighbors beside itself or in an installation's lib, and MPI where it was
# built with. The build tree has the same run path as an installation: nothing is left over. A wheel's
# run path leads nowhere before it is installed, so its build tree has another.
set(parhelion_final_run_path ON)
if(SKBUILD)
  set(parhelion_final_run_path OFF)
endif()

function(parhelion_place_in_flavor target)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PARHELION_FLAVOR_DIR}
    RUNTIME_OUTPUT_DIRECTORY ${PARHELION_FLAVOR_DIR})
  parhelion_set_run_path(${target} $ORIGIN ${ARGN})
endfunction()

function(parhelion_set_run_path target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ${parhelion_final_run_path}
    INSTALL_RPATH "${ARGN};${PARHELION_MPI_RUN_PATH}"
    INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()

# Takes compiler wrapper, libraries and mpiexec from one prefix; FindMPI alone may mix two MPIs.
#
# Input, all optional: MPI_HOME, MPI_CXX_COMPILER, MPIEXEC_EXECUTABLE, and MPICXX or MPICC in the
# environment. Default: mpicxx on PATH, which for `pip install` may be that of the MPICH wheel.
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME)
  if(DEFINED ENV{MPICXX})
    find_program(MPI_CXX_COMPILER NAMES $ENV{MPICXX})
  elseif(DEFINED ENV{MPI_HOME})
    set(MPI_HOME $ENV{MPI_HOME})
  elseif(DEFINED ENV{MPICC})
    # mpicc, mpicc.openmpi, mpicc_abi: mpicxx has the same suffix.
    string(REGEX REPLACE "mpicc([^/]*)$" "mpicxx\\1" parhelion_mpicxx "$ENV{MPICC}")
    find_program(MPI_CXX_COMPILER NAMES ${parhelion_mpicxx})
  endif()
endif()
if(NOT MPI_CXX_COMPILER)
  if(MPI_HOME)
    find_program(MPI_CXX_COMPILER NAMES mpicxx mpic++ PATHS ${MPI_HOME}/bin NO_DEFAULT_PATH)
  else()
    find_program(MPI_CXX_COMPILER NAMES mpicxx mpic++)
  endif()
  if(NOT MPI_CXX_COMPILER)
    message(FATAL_ERROR "No MPI found: put mpicxx on PATH, or give -DMPI_HOME=/prefix/of/mpi")
  endif()
endif()
cmake_path(GET MPI_CXX_COMPILER PARENT_PATH parhelion_mpi_bin)
if(NOT MPI_HOME)
  cmake_path(GET parhelion_mpi_bin PARENT_PATH MPI_HOME)
endif()
# pip may install an MPI only for the build: then the package finds one of the same ABI at run time.
set(PARHELION_MPI_IS_WHEEL OFF)
if(SKBUILD)
  find_package(Python REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import importlib.metadata as m; \
print(next(f.locate().resolve() for f in m.files('mpich') if str(f).endswith('bin/mpicxx')).parent.parent)"
    OUTPUT_VARIABLE parhelion_mpi_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH ${MPI_HOME} parhelion_mpi_real)
  if(parhelion_mpi_wheel STREQUAL parhelion_mpi_real)
    set(PARHELION_MPI_IS_WHEEL ON)
  endif()
endif()
# Empty if only a scheduler can start ranks: Cray MPICH, MPICH without a process manager.
if(NOT DEFINED MPIEXEC_EXECUTABLE)
  # Debian: mpiexec.openmpi belongs to mpicxx.openmpi.
  cmake_path(GET MPI_CXX_COMPILER EXTENSION LAST_ONLY parhelion_mpi_suffix)
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec${parhelion_mpi_suffix} HINTS ${parhelion_mpi_bin} NO_DEFAULT_PATH)
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec mpiexec.hydra HINTS ${parhelion_mpi_bin} NO_DEFAULT_PATH)
  if(NOT MPIEXEC_EXECUTABLE)
    set(MPIEXEC_EXECUTABLE "" CACHE FILEPATH "" FORCE)
  endif()
endif()

# The wrappers in Intel's wheels have a placeholder as prefix and read I_MPI_ROOT instead.
if(EXISTS ${MPI_HOME}/lib/libmpi_shm_heap_proxy.so)
  set(ENV{I_MPI_ROOT} ${MPI_HOME})
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)

# Removes the wrapper's link options, whose -rpath every binary would keep; a parent project may
# have found MPI itself and keeps its target unchanged.
if(PROJECT_IS_TOP_LEVEL)
  set_target_properties(MPI::MPI_CXX PROPERTIES INTERFACE_LINK_OPTIONS "")
endif()

# A probe prints the path and version of the MPI library that it loads.
list(GET MPI_CXX_LIBRARIES 0 parhelion_mpi_library)
cmake_path(GET parhelion_mpi_library PARENT_PATH parhelion_mpi_link_dir)
set(parhelion_probe ${PROJECT_BINARY_DIR}/mpi_version/mpi_version)
try_compile(parhelion_mpi_compiles ${PROJECT_BINARY_DIR}/mpi_version ${CMAKE_CURRENT_LIST_DIR}/mpi_version.cpp
  LINK_OPTIONS -Wl,-rpath,${parhelion_mpi_link_dir} -Wl,--as-needed
  LINK_LIBRARIES MPI::MPI_CXX ${CMAKE_DL_LIBS} OUTPUT_VARIABLE parhelion_mpi_errors COPY_FILE ${parhelion_probe})
if(parhelion_mpi_compiles)
  execute_process(COMMAND ${parhelion_probe} RESULT_VARIABLE parhelion_mpi_status
    OUTPUT_VARIABLE parhelion_mpi_output ERROR_VARIABLE parhelion_mpi_errors)
  execute_process(COMMAND ${CMAKE_READELF} -d ${parhelion_probe} OUTPUT_VARIABLE parhelion_mpi_needs)
endif()
if(NOT parhelion_mpi_compiles OR NOT parhelion_mpi_status EQUAL 0)
  message(FATAL_ERROR "A program built with ${MPI_CXX_COMPILER} does not run: "
    "${parhelion_mpi_status}\n${parhelion_mpi_errors}")
endif()
string(REGEX MATCH "\\[(libmpi[^]]*)\\]" _ "${parhelion_mpi_needs}")
set(PARHELION_MPI_SONAME "${CMAKE_MATCH_1}")
string(REGEX MATCH "^([^\n]+)\n[ \t]*([^,\r\n]+)" _ "${parhelion_mpi_output}")
cmake_path(GET CMAKE_MATCH_1 PARENT_PATH PARHELION_MPI_LIBRARY_DIR)
string(REGEX REPLACE "[ \t\"\\]+" " " PARHELION_MPI_VERSION "${CMAKE_MATCH_2}")
if(PARHELION_MPI_VERSION MATCHES "Open MPI")
  set(PARHELION_MPI_KIND openmpi)
elseif(PARHELION_MPI_VERSION MATCHES "Intel")
  set(PARHELION_MPI_KIND impi)
elseif(PARHELION_MPI_VERSION MATCHES "CRAY")
  set(PARHELION_MPI_KIND cray)
elseif(PARHELION_MPI_VERSION MATCHES "MPICH|MVAPICH")
  set(PARHELION_MPI_KIND mpich)
elseif(PARHELION_MPI_VERSION MATCHES "Spectrum MPI")
  set(PARHELION_MPI_KIND openmpi)
else()
  set(PARHELION_MPI_KIND other)
endif()
message(STATUS "MPI: ${PARHELION_MPI_VERSION} in ${MPI_HOME}")

# FindMPI drops the macro that selects the standard ABI in mpi.h.
if(PARHELION_MPI_SONAME MATCHES "^libmpi_abi")
  target_compile_definitions(MPI::MPI_CXX INTERFACE MPI_ABI)
endif()

# MPI 5's standard ABI has MPI_Comm_fromint instead of MPI_Comm_f2c. Users need MPI_ABI, too.
function(parhelion_use_standard_abi target)
  if(PARHELION_MPI_SONAME MATCHES "^libmpi_abi")
    target_compile_definitions(${target} PUBLIC MPI_ABI
      PRIVATE PARHELION_STANDARD_ABI MPI_Comm_f2c=MPI_Comm_fromint MPI_Comm_c2f=MPI_Comm_toint)
  endif()
endfunction()

# Headers for the transport `ucx`: the system's, else those of the wheel libucx-cu12. With AUTO and
# no headers, builds without ucx. The library is loaded at first use, the wheel's as a last resort.
set(PARHELION_UCX_WHEEL "/")
if(PARHELION_UCX STREQUAL "AUTO" OR PARHELION_UCX)
  find_package(Python COMPONENTS Interpreter QUIET)
  if(Python_Interpreter_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import importlib.util as u; print(u.find_spec('libucx').submodule_search_locations[0])"
      OUTPUT_VARIABLE parhelion_ucx_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  find_path(PARHELION_UCX_INCLUDE ucp/api/ucp.h HINTS ${parhelion_ucx_wheel}/include)
  # Relative to the library's folder, so that binaries have no absolute paths. Under pip (SKBUILD),
  # the wheel is temporary.
  if(EXISTS "${parhelion_ucx_wheel}/lib/libucp.so.0" AND NOT SKBUILD)
    file(RELATIVE_PATH parhelion_ucx_from_build ${PARHELION_BUILD_DIR} ${parhelion_ucx_wheel}/lib)
    set(PARHELION_UCX_WHEEL "/${parhelion_ucx_from_build}/")
  endif()
  if(PARHELION_UCX_INCLUDE)
    set(PARHELION_UCX ON)
  elseif(PARHELION_UCX STREQUAL "AUTO")
    message(STATUS "Transport ucx not built: no ucp/api/ucp.h (pip install -r requirements/ucx.txt, or apt install libucx-dev)")
    set(PARHELION_UCX OFF)
  else()
    message(FATAL_ERROR "PARHELION_UCX is on, but there is no ucp/api/ucp.h: give -DPARHELION_UCX_INCLUDE=/its/directory")
  endif()
endif()

file(GLOB_RECURSE parhelion_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/c/*.cpp)
if(NOT PARHELION_UCX)
  list(FILTER parhelion_sources EXCLUDE REGEX "/transport/ucx/")
endif()
# The kernel for AMD's devices, as the values of an array.
set(parhelion_kernel ${PROJECT_BINARY_DIR}/include/plan/device/kernel.hip)
set(parhelion_kernel_archive ${PROJECT_SOURCE_DIR}/src/plan/device/kernel.hip.tar.xz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${parhelion_kernel_archive})
file(ARCHIVE_EXTRACT INPUT ${parhelion_kernel_archive} DESTINATION ${PROJECT_BINARY_DIR}/include/plan/device)
file(READ ${parhelion_kernel} parhelion_kernel_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," parhelion_kernel_bytes "${parhelion_kernel_bytes}")
file(CONFIGURE OUTPUT ${parhelion_kernel}.inc CONTENT "@parhelion_kernel_bytes@\n" @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${PROJECT_BINARY_DIR}/include/parhelion/version.hpp @ONLY)

if(PARHELION_STATIC)
  add_library(parhelion STATIC ${parhelion_sources})
else()
  add_library(parhelion SHARED ${parhelion_sources})
endif()
add_library(parhelion::parhelion ALIAS parhelion)
set_target_properties(parhelion PROPERTIES LINKER_LANGUAGE CXX SOVERSION ${PARHELION_SOVERSION})
target_compile_features(parhelion PUBLIC cxx_std_20)
target_include_directories(parhelion PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:include>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(parhelion PUBLIC MPI::MPI_CXX PRIVATE $<BUILD_INTERFACE:parhelion_compile_options> ${CMAKE_DL_LIBS})
if(PARHELION_UCX)
  target_include_directories(parhelion SYSTEM PRIVATE ${PARHELION_UCX_INCLUDE})
  target_compile_definitions(parhelion PRIVATE PARHELION_WITH_UCX PARHELION_UCX_WHEEL="${PARHELION_UCX_WHEEL}")
endif()
parhelion_use_standard_abi(parhelion)
parhelion_precompile(parhelion)
parhelion_unite(parhelion ${PROJECT_SOURCE_DIR}/src/transport/message_transport.cpp ${PROJECT_SOURCE_DIR}/src/transport/staged_shared.cpp)
parhelion_place_in_build(parhelion)

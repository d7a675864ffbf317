# The library: every source under src/, so that a new stage file needs no edit here.
file(GLOB_RECURSE parhelion_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/c/*.cpp)
if(NOT PARHELION_UCX)
  list(FILTER parhelion_sources EXCLUDE REGEX "/transport/ucx/")
endif()
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
parhelion_unite(parhelion ${PROJECT_SOURCE_DIR}/src/transport/pieces.cpp ${PROJECT_SOURCE_DIR}/src/transport/staged_shared.cpp)
parhelion_place_in_flavor(parhelion)

# GoogleTest from its sources, compiled once with the options of this build: the wheel ros-gtest-vendor has them beside Python's
# packages, Debian's libgtest-dev below /usr/src.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
cmake_path(GET Python_EXECUTABLE PARENT_PATH python_prefix)
find_path(PARHELION_GTEST src/gtest-all.cc NO_DEFAULT_PATH DOC "GoogleTest's folder of sources"
  PATHS ${python_prefix}/../src/gtest_vendor /usr/src/googletest/googletest)
if(NOT PARHELION_GTEST)
  message(STATUS "Tests: not built, for want of GoogleTest's sources: install libgtest-dev, or ros-gtest-vendor with pip for ${Python_EXECUTABLE}, "
    "or name their folder with -DPARHELION_GTEST=")
  return()
endif()
find_package(Threads REQUIRED)
add_library(parhelion_gtest STATIC ${PARHELION_GTEST}/src/gtest-all.cc)
target_include_directories(parhelion_gtest SYSTEM PUBLIC ${PARHELION_GTEST}/include PRIVATE ${PARHELION_GTEST})
target_compile_options(parhelion_gtest PRIVATE -w $<$<CONFIG:Release>:-O1>)
target_link_libraries(parhelion_gtest PUBLIC Threads::Threads)

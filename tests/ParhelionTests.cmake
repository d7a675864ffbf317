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

# Test programs: GoogleTest, one main for unit tests and one that starts MPI for parallel tests.
# Several run at a time; what computes takes ten times as long with sanitizers.
if(PARHELION_SANITIZE)
  set(usual_limit 600)
else()
  set(usual_limit 240)
endif()
set(PARHELION_TEST_TIMEOUT ${usual_limit} CACHE STRING "Time limit of one test in seconds")

add_custom_target(parhelion_tests)
add_library(parhelion_test_settings INTERFACE)
target_include_directories(parhelion_test_settings INTERFACE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(parhelion_test_settings INTERFACE parhelion parhelion_gtest parhelion_compile_options)
# Compiled once and run for seconds; nothing here is measured. After `if (...)` GoogleTest's macros look to GCC like an else of another's.
target_compile_options(parhelion_test_settings INTERFACE $<$<CONFIG:Release>:-O1> -Wno-dangling-else)
# Only the library has sanitizers' checks, with which tests would take four times as long to compile; ThreadSanitizer needs them in all.
if(PARHELION_SANITIZE AND NOT "thread" IN_LIST PARHELION_SANITIZE)
  target_compile_options(parhelion_gtest PRIVATE -fno-sanitize=all)
  target_compile_options(parhelion_test_settings INTERFACE -fno-sanitize=all)
  target_compile_definitions(parhelion_test_settings INTERFACE PARHELION_SANITIZED)
endif()
unset(CMAKE_POSITION_INDEPENDENT_CODE)  # libraries and programs share what is precompiled

# Sources in tests/support are shared by all tests; each kind has its own main.
file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
list(FILTER support_sources EXCLUDE REGEX "_main\\.cpp$")
foreach(kind unit parallel)
  add_library(parhelion_${kind}_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/${kind}_main.cpp)
  target_link_libraries(parhelion_${kind}_main PUBLIC parhelion_test_settings)
endforeach()
add_library(parhelion_test_support INTERFACE)
if(support_sources)
  add_library(parhelion_test_support_objects STATIC ${support_sources})
  target_link_libraries(parhelion_test_support_objects PUBLIC parhelion_test_settings)
  parhelion_precompile(parhelion_test_support_objects <fstream> <iostream> <gtest/gtest.h> <parhelion/parhelion.hpp>)
  target_link_libraries(parhelion_test_support INTERFACE parhelion_test_support_objects)
endif()

# One program from sources: starting ranks, and linking, take longer than running one file's cases. Files named bench_* test the
# measuring program's parts, and are left out where it is not built.
function(parhelion_add_test_program program sources kind)
  set(bench_sources ${sources})
  list(FILTER bench_sources INCLUDE REGEX "/bench_[^/]*$")
  if(bench_sources AND NOT TARGET phl_bench)
    list(REMOVE_ITEM sources ${bench_sources})
  endif()
  add_executable(${program} ${sources})
  parhelion_unite(${program} ${bench_sources})
  add_dependencies(parhelion_tests ${program})
  target_link_libraries(${program} PRIVATE parhelion_${kind}_main parhelion_test_support)
  parhelion_precompile_as(parhelion_test_support_objects ${program})
  if(bench_sources AND TARGET phl_bench)
    target_link_libraries(${program} PRIVATE phl_bench)
  endif()
  parhelion_set_run_path(${program} ${PARHELION_BUILD_DIR})
endfunction()

# A leak report of MPI's own start-up says nothing about us. Open MPI's libfabric component looks for
# networks for a second at each start, which one machine does not need.
set(test_environment
  "OMPI_MCA_btl=^ofi"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:print_suppressions=0:history_size=4"
  "UBSAN_OPTIONS=print_stacktrace=1")

# All of a directory's sources as `program`; for a unit, a test for each file.
function(parhelion_add_suite directory kind)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cpp)
  parhelion_add_test_program(${directory} "${sources}" ${kind})
  if(kind STREQUAL parallel)
    parhelion_run_at(${directory} ${directory} ${PARHELION_TEST_RANKS})
    return()
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    if(TARGET phl_bench OR NOT name MATCHES "^bench_")
      add_test(NAME ${directory}.${name} COMMAND ${directory} --gtest_filter=${name}.*)
      set_tests_properties(${directory}.${name} PROPERTIES
        TIMEOUT ${PARHELION_TEST_TIMEOUT} LABELS unit ENVIRONMENT "${test_environment}")
    endif()
  endforeach()
endfunction()

# Cases that these tests leave out, those that there are.
function(parhelion_leave_out cases)
  foreach(test IN LISTS ARGN)
    if(TEST ${test})
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${cases}")
    endif()
  endforeach()
endfunction()

# Tests with the label "long" are left to `make test-others`.
# parhelion_run_at(TEST PROGRAM RANKS… [ARGS…]): the launcher knows what each MPI wants (options, environment,
# killing a job that hangs).
function(parhelion_run_at test program)
  math(EXPR ctest_limit "${PARHELION_TEST_TIMEOUT} + 15")
  cmake_parse_arguments(PARSE_ARGV 2 run "" "" ARGS)
  foreach(ranks IN LISTS run_UNPARSED_ARGUMENTS)
    add_test(NAME ${test}.${ranks} COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/support/mpirun.py
      --build-file ${PARHELION_BUILD_DIR}/build.json --ranks ${ranks}
      --timeout ${PARHELION_TEST_TIMEOUT} $<TARGET_FILE:${program}> ${run_ARGS})
    set_tests_properties(${test}.${ranks} PROPERTIES TIMEOUT ${ctest_limit} LABELS parallel
      PROCESSORS ${ranks} ENVIRONMENT "${test_environment}")
    if(ranks GREATER 4)
      set_property(TEST ${test}.${ranks} APPEND PROPERTY LABELS long)
    endif()
  endforeach()
endfunction()

# Test programs: doctest, one main for unit tests and one that starts MPI for parallel tests.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
# Several run at a time; what computes takes ten times as long with sanitizers.
if(PARHELION_SANITIZE)
  set(usual_limit 600)
else()
  set(usual_limit 240)
endif()
set(PARHELION_TEST_TIMEOUT ${usual_limit} CACHE STRING "Time limit of one test in seconds")

add_custom_target(parhelion_tests)
add_library(parhelion_test_settings INTERFACE)
target_include_directories(parhelion_test_settings SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/third_party)
target_include_directories(parhelion_test_settings INTERFACE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(parhelion_test_settings INTERFACE parhelion parhelion_compile_options)
# Compiled once and run for seconds; nothing here is measured.
target_compile_options(parhelion_test_settings INTERFACE $<$<CONFIG:Release>:-O1>)
unset(CMAKE_POSITION_INDEPENDENT_CODE)  # libraries and programs share what is precompiled
if(PARHELION_MPI_PARTITIONED)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/parallel/lifetimes.cpp
    PROPERTIES COMPILE_DEFINITIONS PARHELION_WITH_PARTITIONED)
endif()

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
  parhelion_precompile(parhelion_test_support_objects <fstream> <iostream> <doctest/doctest.h> <parhelion/parhelion.hpp>)
  target_link_libraries(parhelion_test_support INTERFACE parhelion_test_support_objects)
endif()

# Calls `add TEST PROGRAM SOURCE` for every source below tests/<directory>: unit/box.cpp is
# unit.box. Sources with a header of the same name hold what the directory's tests share.
function(parhelion_add_tests directory add)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cpp)
  set(shared)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "cpp$" "hpp" header ${source})
    if(EXISTS ${header})
      list(APPEND shared ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM sources ${shared} "")
  if(NOT TARGET phl_bench)
    list(FILTER sources EXCLUDE REGEX "/bench_[^/]*$")
  endif()
  if(shared)
    add_library(parhelion_${directory}_shared OBJECT ${shared})
    target_link_libraries(parhelion_${directory}_shared PUBLIC parhelion_test_settings)
    set(shared_by_directory parhelion_${directory}_shared)
  endif()
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name)
    string(REPLACE "/" "." test ${name})
    string(REPLACE "/" "_" program ${name})
    cmake_language(CALL ${add} ${test} ${program} ${source})
  endforeach()
endfunction()

# Files named bench_* test the measuring program's parts, and are left out where it is not built.
function(parhelion_add_test_program program source kind)
  add_executable(${program} ${source})
  add_dependencies(parhelion_tests ${program})
  target_link_libraries(${program} PRIVATE parhelion_${kind}_main parhelion_test_support ${shared_by_directory})
  parhelion_precompile_as(parhelion_test_support_objects ${program})
  if(source MATCHES "/bench_[^/]*$")
    target_link_libraries(${program} PRIVATE phl_bench)
  endif()
  parhelion_set_run_path(${program} ${PARHELION_FLAVOR_DIR})
endfunction()

# A leak report of MPI's own start-up says nothing about us. Open MPI's libfabric component looks for
# networks for a second at each start, which one machine does not need.
set(test_environment
  "OMPI_MCA_btl=^ofi"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1")

function(parhelion_add_unit_test test program source)
  parhelion_add_test_program(${program} ${source} unit)
  add_test(NAME ${test} COMMAND ${program})
  set_tests_properties(${test} PROPERTIES
    TIMEOUT ${PARHELION_TEST_TIMEOUT} LABELS unit ENVIRONMENT "${test_environment}")
endfunction()

# parhelion_run_at(TEST PROGRAM RANKS…): the launcher knows what each MPI wants (options, environment,
# killing a job that hangs).
function(parhelion_run_at test program)
  math(EXPR ctest_limit "${PARHELION_TEST_TIMEOUT} + 15")
  foreach(ranks IN LISTS ARGN)
    add_test(NAME ${test}.${ranks} COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/mpirun.py
      --flavor-file ${PARHELION_FLAVOR_DIR}/flavor.json --ranks ${ranks}
      --timeout ${PARHELION_TEST_TIMEOUT} $<TARGET_FILE:${program}>)
    set_tests_properties(${test}.${ranks} PROPERTIES TIMEOUT ${ctest_limit} LABELS parallel
      PROCESSORS ${ranks} ENVIRONMENT "${test_environment}")
  endforeach()
endfunction()

function(parhelion_add_parallel_test test program source)
  parhelion_add_test_program(${program} "${source}" parallel)
  parhelion_run_at(${test} ${program} ${PARHELION_TEST_RANKS})
endfunction()

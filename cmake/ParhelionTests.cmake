# Test programs: doctest, one main for unit tests and one that starts MPI for parallel tests.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
set(PARHELION_TEST_TIMEOUT 120 CACHE STRING "Time limit of one test in seconds")

foreach(kind unit parallel)
  add_library(parhelion_${kind}_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/${kind}_main.cpp)
  target_include_directories(parhelion_${kind}_main SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party)
  target_include_directories(parhelion_${kind}_main PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(parhelion_${kind}_main PUBLIC parhelion parhelion_compile_options)
endforeach()

# Files named bench_* test the measuring program's parts.
function(parhelion_add_test_program name source kind)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE parhelion_${kind}_main)
  if(name MATCHES "_bench_" AND TARGET phl_bench)
    target_link_libraries(${name} PRIVATE phl_bench)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  parhelion_set_run_path(${name} ${PARHELION_FLAVOR_DIR})
endfunction()

# A leak report of MPI's own start-up says nothing about us. Open MPI's libfabric component looks for
# networks for a second at each start, which one machine does not need.
set(test_environment
  "OMPI_MCA_btl=^ofi"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1")

function(parhelion_add_unit_test source)
  cmake_path(GET source STEM stem)
  parhelion_add_test_program(unit_${stem} ${source} unit)
  add_test(NAME unit.${stem} COMMAND unit_${stem})
  set_tests_properties(unit.${stem} PROPERTIES
    TIMEOUT ${PARHELION_TEST_TIMEOUT} LABELS unit ENVIRONMENT "${test_environment}")
endfunction()

# The launcher knows what each MPI wants (options, environment, killing a job that hangs).
function(parhelion_add_parallel_test source)
  cmake_path(GET source STEM stem)
  parhelion_add_test_program(parallel_${stem} ${source} parallel)
  math(EXPR ctest_limit "${PARHELION_TEST_TIMEOUT} + 15")
  foreach(ranks IN LISTS PARHELION_TEST_RANKS)
    set(name parallel.${stem}.${ranks})
    add_test(NAME ${name} COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/mpirun.py
      --flavor-file ${PARHELION_FLAVOR_DIR}/flavor.json --ranks ${ranks}
      --timeout ${PARHELION_TEST_TIMEOUT} $<TARGET_FILE:parallel_${stem}>)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ctest_limit} LABELS parallel
      PROCESSORS ${ranks} ENVIRONMENT "${test_environment}")
  endforeach()
endfunction()

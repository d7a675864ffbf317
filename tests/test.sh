#!/bin/bash
# test.sh [quick|usual|others|all]
#   quick: unit tests, other C++ tests at three ranks, Python tests without ranks.
#   usual: lint, and C++ and Python tests under the embedded MPI, except long ones.
#   others: long tests; C++ tests under Open MPI and sanitizers at three ranks, or two; threaded
#     exchanges under ThreadSanitizer; Python tests that need Open MPI or were skipped before.
#   all: all of these at all numbers of ranks, and messages of gigabytes.
# Runs all suites; the exit status is nonzero after any failure. With EXPECTED_SKIPS=FILE, a skip
# for a reason that is not in FILE is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."

make=(make --no-print-directory "JOBS=${JOBS:-2}")
logs=build/test-logs
bytecode=build/bytecode
summary=()
failed=0

# suite NAME PATTERN COMMAND...: runs and logs COMMAND; the summary shows the last match of PATTERN.
suite() {
    local name=$1 pattern=$2 log status line start=$SECONDS
    shift 2
    log=$logs/${name// /-}.log
    printf '\n=== %s\n' "$name"
    "$@" 2>&1 | tee "$log"
    status=$?
    line=$(grep -E "$pattern" "$log" | tail -n 1)
    line=${line:-no result}
    ((status == 0)) || failed=1 line+=", see $log"
    summary+=("$(printf '%-4s %4d s  %-26s %s' "$( ((status == 0)) && echo ok || echo FAIL)" \
        $((SECONDS - start)) "$name" "$line")")
}

cpp() { suite "C++ $1" '^[0-9]+% tests passed' "${make[@]}" test-cpp "${@:2}"; }

# Before the logs: creating .venv removes builds and logs.
"${make[@]}" setup || exit 1
mkdir -p "$logs" "$bytecode" && touch "$logs/made-by-make" "$bytecode/made-by-make"
# Caches bytecode: hundreds of tests start Python.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$PWD/$bytecode
first=build/mpich/pytest.xml # results of "usual", for "others"
# Open MPI and sanitizers: only three ranks, where blocks are uneven, and no minutes of waiting that MPI has no part in.
several='^(parallel|(device[.]|xpmem[.])?(conformance|property)([.]slow)?|xpmem|interfaces[.][a-z_]*|robustness|robustness[.]set_up[.][a-z]*)[.]2$$'
left_out="[.][1468]\$\$|$several|set_up[.]still|lost[.](shared|staged|ucx|xpmem|mpi_neighbor|node)|ucx_messages[.]pieces"
few="-LE 'exhaustive|unit' -E '$left_out|[.]cut[.]ucx'"
# Sanitizers: also unit tests, for their memory errors.
fewer="-LE exhaustive -E '$left_out|xpmem[.]conformance'"
once="-LE 'exhaustive|robustness' -E '[.]([12468]|12|24)\$\$'"
without_ranks=$(echo tests/python/{analyze,mesh,project,record,show})

others() {
    [ "$3" = all ] || cpp "mpich, long" MPI=mpich "CTEST_ARGS=-L long -LE exhaustive"
    cpp "openmpi" MPI=openmpi "CTEST_ARGS=$1"
    cpp "mpich, sanitizers" MPI=mpich SANITIZE=address,undefined "CTEST_ARGS=$2" 'CMAKE_ARGS=-DPARHELION_TEST_RANKS="1;2;3;4"'
    cpp "mpich, ThreadSanitizer" MPI=mpich SANITIZE=thread "TEST_TARGET=robustness property" "CTEST_ARGS=-R 'robustness[.]races'"
}
embedded() {
    cpp "mpich" MPI=mpich "CTEST_ARGS=$1"
    python "" "${@:2}"
}
python() { suite "Python$1" '(passed|failed|error|no tests ran).* in [0-9.]+' "${make[@]}" test-python MPI=mpich "${@:2}"; }
# Python tests with both builds, without those that passed in "usual".
python_over_openmpi() {
    local told=build/openmpi/pytest.xml
    python ", long and Open MPI" "PYTEST_ARGS=--junitxml=$told $([ ! -e "$first" ] || echo "--except-passed=$first")"
}
lint() { suite "Lint" '^(Success|Found [0-9]+ error)' "${make[@]}" lint; }

results=(build/*/ctest.xml build/*/pytest.xml)
[ "${1:-usual}" != others ] || results=(build/openmpi/*.xml build/*-*/ctest.xml)
rm -f "${results[@]}"
case ${1:-usual} in
    quick) embedded "$once" "PYTEST_ARGS=$without_ranks" ;;
    usual) lint; embedded "-LE 'exhaustive|long'" "PYTEST_ARGS=-m 'not long'" ;;
    others) others "$few" "$fewer" ""; python_over_openmpi ;;
    all) export PARHELION_TEST_MATRIX=1; lint; others ' ' ' ' all; embedded '' ;;
    *) echo "$0 quick|usual|others|all" >&2 && exit 2 ;;
esac

.venv/bin/python tests/skips.py ${EXPECTED_SKIPS:+--expected "$EXPECTED_SKIPS"} build/*/ctest.xml build/*/pytest.xml || {
    failed=1
    summary+=("FAIL          skips                      some were not expected, see above")
}

printf '\n=== Summary (%d s)\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
exit $failed

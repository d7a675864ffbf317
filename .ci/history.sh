#!/bin/bash
# Adds a small benchmark run to a store and reports the store's history. Takes less than a minute;
# exit status 0 always: not a gate.
#   .ci/history.sh STORE PARHELION...       such as: .ci/history.sh ~/history .venv/bin/parhelion
set -uo pipefail
store=$1
shift
now=$(date -u +%Y%m%dT%H%M%S)

measure() {
    local seconds=$1 benchmark=$2
    shift 2
    timeout "$seconds" nice "${parhelion[@]}" bench "$benchmark" --quick --launches 3 --ranks 2 --out "$store/$now-$benchmark" "$@" >/dev/null ||
        echo "history: the run of $benchmark ended with status $?: what it finished is kept"
}

parhelion=("$@")
mkdir -p "$store" || exit 0
measure 25 halo --halo 1 --fields 1,8 --variants auto,mpi,hand_packed,hand_persistent
measure 12 alltoall --size 8,64K --variants mpi_alltoall,pairwise
timeout 15 "${parhelion[@]}" runs history --store "$store" --html "$store/history.html" --fail-on never || echo "history: it could not be told"
exit 0

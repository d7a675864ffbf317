#!/bin/bash
# Builds peers for the build in FOLDER, each for itself: one that is not to be had keeps no other from being built.
# Usage: peers.sh FOLDER PEER... A recipe that named make itself would be run by `make -n`, too.
folder=$1
for peer in "${@:2}"; do
    log=$folder/peer-$peer.log
    if make --no-print-directory "peer-$peer" >"$log" 2>&1; then
        echo "$peer: built"
    else
        echo "$peer: not built, see $log:"
        grep -vE '^$|^make|incomplete|See also|Call Stack|CMakeLists.txt:' "$log" | tail -n 4
    fi
done

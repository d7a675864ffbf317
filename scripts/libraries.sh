#!/bin/bash
# Builds the adapters of other libraries for the build in FOLDER, each for itself: one that fails keeps no other from being built.
# Usage: libraries.sh FOLDER LIBRARY... A recipe that named make itself would be run by `make -n`, too.
folder=$1
for library in "${@:2}"; do
    log=$folder/library-$library.log
    if make --no-print-directory "library-$library" >"$log" 2>&1; then
        echo "$library: built"
    else
        echo "$library: not built, see $log:"
        grep -vE '^$|^make|incomplete|See also|Call Stack|CMakeLists.txt:' "$log" | tail -n 4
    fi
done

#!/bin/bash
# libraries.sh FOLDER LIBRARY...: builds the adapters of other libraries for the build in FOLDER,
# and continues after a failure. A script, because `make -n` executes lines that name $(MAKE).
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

"""Starts a test program of a build tree as ranks; needs no installed package. Users have `parhelion run`.

PARHELION_TEST_PRELOAD names a library that the ranks load first. Exit status: the program's; 124 after the time limit; 2 where it cannot be started.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from parhelion.errors import BAD_INPUT
from parhelion.launch import BuildError, load_build
from parhelion.launch.ending import ends_by_signals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--ranks", type=int, required=True)
    parser.add_argument("--build-file", required=True, help="build.json of the build")
    parser.add_argument("--timeout", type=float, help="seconds until all ranks are ended")
    parser.add_argument("--option", action="append", default=[], help="for this MPI's mpiexec, as --option=-disable-auto-cleanup")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    program, arguments = options.program, options.args
    if preload := os.environ.get("PARHELION_TEST_PRELOAD"):
        program, arguments = "/usr/bin/env", [f"LD_PRELOAD={preload}", program, *arguments]
    try:
        launch = load_build(options.build_file).launch(options.ranks, program, arguments, options=options.option)
        done = launch.run(timeout=options.timeout)
    except (BuildError, ValueError, OSError) as error:
        print(f"mpirun.py: {error}", file=sys.stderr)
        return BAD_INPUT
    if done.returncode is None:
        print(f"mpirun.py: ended after the time limit of {options.timeout:g} s", file=sys.stderr)
        return 124
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    with ends_by_signals("mpirun.py"):
        sys.exit(main())

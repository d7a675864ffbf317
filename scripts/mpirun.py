"""Starts a program of a build tree under a flavor's MPI; needs no installed package. Users have `parhelion run`."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from parhelion.errors import BAD_INPUT
from parhelion.launch import FlavorError, find_flavor, load_flavor, run_command
from parhelion.launch.ending import ends_by_signals



def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: the program's; 124 after the time limit; 2 for bad input; after a signal, that of a command it has ended."""
    options = _parser().parse_args(arguments)
    with ends_by_signals("mpirun.py"):
        return _start(options)


def _start(options: argparse.Namespace) -> int:
    try:
        flavor = load_flavor(options.flavor_file) if options.flavor_file else find_flavor(options.flavor)
        launch = flavor.launch(options.ranks, options.program, options.args, bind=options.bind, options=options.option)
    except (FlavorError, ValueError) as error:
        print(f"mpirun.py: {error}", file=sys.stderr)
        return BAD_INPUT
    if options.verbose:
        print("\n".join([*launch.notes, " ".join(launch.argv)]), file=sys.stderr)
    try:
        completed = run_command(launch.argv, launch.env, timeout=options.timeout, false_start=launch.false_start)
    except OSError as error:
        print(f"mpirun.py: cannot start {error.filename}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    return _status(completed, options.timeout)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpirun.py", description=main.__doc__)
    parser.add_argument("-n", "--ranks", type=int, required=True)
    parser.add_argument("--flavor", help="name of a build (default: the one built last)")
    parser.add_argument("--flavor-file", help="path of a flavor.json, instead of --flavor")
    parser.add_argument("--timeout", type=_seconds, help="seconds until all ranks are ended")
    parser.add_argument("--no-bind", dest="bind", action="store_false", help="leave ranks unbound")
    parser.add_argument("--option", action="append", default=[], help="for this MPI's mpiexec, as --option=-disable-auto-cleanup")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the command line and what was set")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no time limit: give more than 0 seconds")
    return seconds


def _status(completed, limit: float | None) -> int:
    if completed.timed_out:
        print(f"mpirun.py: ended after the time limit of {limit:g} s", file=sys.stderr)
        return 124
    return completed.returncode if completed.returncode >= 0 else 128 - completed.returncode


if __name__ == "__main__":
    sys.exit(main())

"""The command `parhelion` where the packages of the command line may be missing: then `config` works, `--help` lists the commands, and any
other says the one line that installs what it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import InputError
from ..launch.remedies import EXTRAS, what_is_missing
from .config.facts import OPTIONS, answer


def main() -> None:
    """Entry point of the command `parhelion`."""
    try:
        from .main import main as with_click
    except ModuleNotFoundError as error:
        told = what_is_missing(error, next(iter(sys.argv[1:]), None)) if error.name in EXTRAS else None
        if told is None:
            raise
        sys.exit(without_click(sys.argv[1:], told))
    with_click()


def without_click(words: Sequence[str], missing: str) -> int:
    """What works with NumPy and mpi4py alone; status 2 for the rest."""
    if words[:1] == ["config"]:
        return _config(words[1:])
    if words[:1] == ["--version"]:
        from importlib.metadata import version

        print(f"parhelion, version {version('parhelion')}")
        return 0
    if not words or words[0] in ("-h", "--help"):
        print(f"Usage: parhelion config [OPTIONS]\n\n  Where headers, library and files for CMake and pkg-config are.\n\nAll other commands: {missing}")
        return 0
    print(f"Error: {missing}", file=sys.stderr)
    return 2


def _config(words: Sequence[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(prog="parhelion config", description="Where headers, library and files for CMake and pkg-config are.")
    for name, about in OPTIONS.items():
        parser.add_argument(f"--{name}", action="append_const", dest="asked", const=name, help=about)
    parser.add_argument("--flavor", metavar="FLAVOR", help="of which build [that of the MPI that mpi4py is bound to]")
    given = parser.parse_args(words)
    try:
        print(answer(given.asked or [], given.flavor))
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0

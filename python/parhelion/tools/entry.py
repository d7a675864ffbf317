"""The command `parhelion` where the packages of the command line may be missing: then `run` and `config` work, `--help` lists them, and any
other command says the one line that installs what it needs.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InputError
from ..launch.remedies import EXTRAS, what_is_missing
from .cli.streams import whole_command
from .config.facts import OPTIONS, answer

ABOUT = {
    "run": "Start PROGRAM as ranks, under the MPI that it is built for, bound to cores.",
    "config": "Where headers, library and files for CMake and pkg-config are.",
}


def main() -> None:
    """Entry point of the command `parhelion`."""
    try:
        from .main import main as with_click
    except ModuleNotFoundError as error:
        told = what_is_missing(error, next(iter(sys.argv[1:]), None)) if error.name in EXTRAS else None
        if told is None:
            raise
        with whole_command():
            sys.exit(without_click(sys.argv[1:], told))
    with_click()


def without_click(words: Sequence[str], missing: str) -> int:
    """What works with NumPy and mpi4py alone; status 2 for the rest."""
    try:
        if words[:1] == ["run"]:
            return _run(words[1:])
        if words[:1] == ["config"]:
            return _config(words[1:])
    except InputError as error:
        missing = str(error)
    except ModuleNotFoundError as error:  # of `run --profile`
        missing = what_is_missing(error) or str(error)
    if words[:1] in (["--version"], ["-V"]):
        from importlib.metadata import version

        print(f"parhelion, version {version('parhelion')}")
        return 0
    if not words or words[0] in ("-h", "--help"):
        print("\n".join(["Usage: parhelion COMMAND [OPTIONS]\n", *(f"  {name:8}{about}" for name, about in ABOUT.items())]))
        print(f"\nAll other commands: {missing}")
        return 0
    print(f"Error: {missing}", file=sys.stderr)
    return 2


def _run(words: Sequence[str]) -> int:
    from .running import options
    from .running.start import Wanted, start

    parser = _parser("run", " PROGRAM [ARGS]...")
    for option in options.OPTIONS:
        if option.metavar:
            action = "append" if option.again else "store"
            parser.add_argument(*option.words.split(), action=action, metavar=option.metavar, type=_checked(option.value), help=option.about)
        else:
            parser.add_argument(*option.words.split(), action="store_true", help=option.about)
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = vars(parser.parse_args(words))
    program = given["program"][given["program"][:1] == ["--"] :]
    if not program:
        parser.error("say which program is to be started")
    return start(Wanted(**{**given, "program": program, "option": tuple(given["option"] or ())}))


def _checked(value: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same for argparse, which shows the text of its own error alone."""

    def convert(text: str) -> Any:
        try:
            return value(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _config(words: Sequence[str]) -> int:
    parser = _parser("config")
    for name, about in OPTIONS.items():
        parser.add_argument(f"--{name}", action="append_const", dest="asked", const=name, help=about)
    parser.add_argument("--flavor", metavar="FLAVOR", help="of which build [that of the MPI that mpi4py is bound to]")
    given = parser.parse_args(words)
    print(answer(given.asked or [], given.flavor))
    return 0


def _parser(command: str, more: str = "") -> argparse.ArgumentParser:
    usage = f"parhelion {command} [OPTIONS]{more}"
    return argparse.ArgumentParser(usage=usage, description=ABOUT[command], allow_abbrev=False)

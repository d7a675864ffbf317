"""Exit statuses and the errors that a command ends with."""

import importlib.util

import click

from ..launch.remedies import what_is_missing

OK = 0
WRONG_VALUE = 1
BAD_INPUT = 2
RANKS_FAILED = 3


class BadInput(click.ClickException):
    """Something the user gave cannot be used; the message says what, where, and the remedy. Exit status 2."""

    exit_code = BAD_INPUT


class RanksFailed(click.ClickException):
    """The ranks crashed or were stopped; finished cases are kept. Exit status 3."""

    exit_code = RANKS_FAILED


def need(*modules: str) -> None:
    """Fail now where a module is missing that would be wanted after minutes of work."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def missing_package(error: ModuleNotFoundError, command: str | None = None) -> BadInput:
    """What to install, where a command needs a package that is not there; a missing part of our own is a fault."""
    told = what_is_missing(error, command)
    if told is None:
        raise error
    return BadInput(told)

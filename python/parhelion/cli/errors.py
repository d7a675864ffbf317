"""Exit statuses and the errors that a command ends with."""

from __future__ import annotations

import shlex
import sys

import click

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


KNOWN = {
    "parhelion.records.errors": ("RecordError",),
    "parhelion.profile.errors": ("ProfileError",),
    "parhelion.launch.flavor": ("FlavorError",),
    "parhelion.partition.errors": ("MeshError", "IndexMapError"),
    "parhelion.placement.errors": ("PlacementError",),
}


# Modules that are not called as the package is that brings them.
PACKAGES = {"netgen": "netgen-mesher", "yaml": "pyyaml", "PIL": "pillow"}
EXTRAS = {"netgen": "parhelion[demo]"}


def missing_package(error: ModuleNotFoundError) -> BadInput:
    """What to install, where a command needs a package that is not there; a missing part of our own is a fault."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "parhelion"):
        raise error
    what = EXTRAS.get(module) or PACKAGES.get(module, module)
    return BadInput(f"this needs the Python package {PACKAGES.get(module, module)}, which is not installed: "
                    f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(what)}")  # fmt: skip


def known_errors() -> tuple[type[Exception], ...]:
    """Errors of other parts that mean bad input; only parts that are loaded can have raised one."""
    loaded = [(sys.modules[module], names) for module, names in KNOWN.items() if module in sys.modules]
    return tuple(getattr(module, name) for module, names in loaded for name in names)

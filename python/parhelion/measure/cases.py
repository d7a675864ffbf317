"""What the cases of several benchmarks have in common, and other libraries beside the rest, which `make peers` builds."""

import math
import os
from collections.abc import Sequence
from typing import Any

import click

from ..launch import usable_cores
from ..cli.errors import BadInput
from ..cli.options import ELEMENTS, Names
from .launcher import launched_ranks

ELEMENT_BYTES = {name: (int(name.lstrip("abcdefghijklmnopqrstuvwxyz")) + 7) // 8 for name in ELEMENTS}


def usual_ranks() -> int:
    """What a launcher decided, if one did; else one rank per usable core, at least 2."""
    return launched_ranks() or max(2, usable_cores())


def ranks_on_grid(ranks: int | None, grid: tuple[int, ...] | None) -> int:
    """How many ranks there are, which a process grid must have room for."""
    count = ranks or (math.prod(grid) if grid else usual_ranks())
    if grid and math.prod(grid) != count:
        raise BadInput(f"--grid {'x'.join(map(str, grid))} makes {math.prod(grid)} ranks, --ranks says {count}: make them agree")
    return count


def balanced_grid(ranks: int, dimensions: int) -> list[int]:
    """The process grid whose sides differ least, longest first."""
    if dimensions == 1:
        return [ranks]
    sides = [side for side in range(1, ranks + 1) if ranks % side == 0 and side**dimensions <= ranks]
    return [*balanced_grid(ranks // sides[-1], dimensions - 1), sides[-1]]


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse cases beyond this host's memory; ranks that a launcher has started may have several hosts."""
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > here and launched_ranks() is None:
        raise BadInput(f"{what} {needed / 2**30:,.0f} GiB, this host has {here / 2**30:,.0f}: {remedy}")


# Benchmark → library → the contenders in its plug-in of the measuring program.
# PETSc's type `window` aborts with active synchronisation under Open MPI 4.1: petsc_window_active runs only where it is named.
PLUG_INS: dict[str, dict[str, tuple[str, ...]]] = {
    "halo": {"ghex": ("ghex", "ghex_staged")},
    "gather": {
        "petsc": ("petsc_basic", "petsc_neighbor", "petsc_window_fence", "petsc_window_lock"),
        "dolfinx": ("dolfinx",),
    },
}


class Peers(Names):
    """A list of libraries, or one of `words`."""

    def __init__(self, libraries: Sequence[str], words: Sequence[str] = ()) -> None:
        super().__init__()
        self.libraries, self.words = libraries, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = super().convert(value, param, ctx)
        for name in names:
            if name not in self.libraries and not (name in self.words and len(names) == 1):
                words = f", or one of {', '.join(self.words)}" if self.words else ""
                self.fail(f"'{name}' is no peer: choose from {', '.join(self.libraries)}{words}", param, ctx)
        return names


def contenders_of(benchmark: str, libraries: Sequence[str]) -> tuple[str, ...]:
    """The contenders that libraries stand for."""
    return tuple(contender for library in libraries for contender in PLUG_INS[benchmark][library])

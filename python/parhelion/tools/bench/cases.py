"""What the cases of several benchmarks have in common."""

import math
import os

from ...launch import usable_cores
from ..cli.errors import BadInput
from ..cli.options import ELEMENTS
from ..measuring.launcher import launched_ranks

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

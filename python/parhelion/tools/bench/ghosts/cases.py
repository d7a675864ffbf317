"""The cases of `bench ghosts`, checked before anything is started."""

from __future__ import annotations

import math
import os
from itertools import product

from ....launch import usable_cores
from ...cli.errors import BadInput
from ...measuring.launcher import launched_ranks
from ...measuring.measurement import Group
from ..ghosts_program.contenders import ALL
from ..halo.cases import ELEMENT_BYTES, balanced_grid

MODULE = "parhelion.tools.bench.ghosts_program"
ARRAYS_AT_ONCE = 9  # one for each contender


def ghosts_group(
    ranks: int | None, grid: tuple[int, ...] | None, extent: int, vdim: tuple[int, ...], element: tuple[str, ...], pattern: str
) -> Group:
    """One case per element and vdim, all on one process grid."""
    count = ranks or (math.prod(grid) if grid else launched_ranks() or max(2, usable_cores()))
    sides = list(grid or balanced_grid(count, 3))
    sides += [1] * (3 - len(sides))
    if math.prod(sides) != count:
        raise BadInput(f"--grid {'x'.join(map(str, sides))} makes {math.prod(sides)} ranks, --ranks says {count}: make them agree")
    _check_memory(count, extent, max(vdim) * max(ELEMENT_BYTES[kind] for kind in element))
    cases = [{"grid": sides, "extent": extent, "vdim": each, "element": kind, "pattern": pattern}
             for kind, each in product(element, vdim)]  # fmt: skip
    return Group(count, cases)


def check_contenders(names: tuple[str, ...]) -> None:
    """Refuse unknown names before a run folder is made."""
    for name in names:
        if name not in ALL:
            raise BadInput(f"--contenders {name}: there are {', '.join(ALL)}")


def _check_memory(ranks: int, extent: int, row_bytes: int) -> None:
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = ranks * (extent**3 + 6 * extent**2) * row_bytes * ARRAYS_AT_ONCE
    if needed > here and launched_ranks() is None:
        raise BadInput(f"the arrays take {needed / 2**30:,.0f} GiB, this host has {here / 2**30:,.0f}: use a smaller --extent or --vdim")

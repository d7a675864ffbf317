"""The cases of `bench halo`, checked before anything is started."""

from __future__ import annotations

import math
import os
from itertools import product

from ....launch import usable_cores
from ...cli.errors import BadInput
from ...cli.options import ELEMENTS
from ...measuring.launcher import launched_ranks
from ...measuring.measurement import Group

DIMENSIONS = 3
ELEMENT_BYTES = {name: (int(name.lstrip("abcdefghijklmnopqrstuvwxyz")) + 7) // 8 for name in ELEMENTS}


def halo_group(
    ranks: int | None,
    grid: tuple[int, ...] | None,
    extent: tuple[int, ...],
    halo: tuple[int, ...],
    fields: tuple[int, ...],
    element: tuple[str, ...],
    components: tuple[int, ...],
    neighbors: str,
    order: str,
    not_periodic: bool,
) -> Group:
    """One case per combination, all on one process grid."""
    count, process_grid, cells = _shape(ranks, grid, extent)
    widest = max(halo)
    if widest > min(cells):
        raise BadInput(f"--halo {widest} exceeds the local extent {min(cells)}: use a halo of at most {min(cells)} or more cells")
    _check_memory(count, cells, widest, max(fields) * max(components) * max(ELEMENT_BYTES[kind] for kind in element))
    fixed = {"neighbors": neighbors, "periodic": not not_periodic, "order": order}
    cases = [
        {"grid": process_grid, "extent": cells, "halo": width, "fields": number, "element": kind, "components": each} | fixed
        for kind, each, width, number in product(element, components, halo, fields)
    ]
    return Group(count, cases)


def _shape(ranks: int | None, grid: tuple[int, ...] | None, extent: tuple[int, ...]) -> tuple[int, list[int], list[int]]:
    dimensions = len(grid) if grid else len(extent) if len(extent) > 1 else DIMENSIONS
    if len(extent) not in (1, dimensions):
        raise BadInput(f"--extent has {len(extent)} numbers, the process grid has {dimensions}: give one, or as many")
    count = ranks or (math.prod(grid) if grid else launched_ranks() or max(2, usable_cores()))
    if grid and math.prod(grid) != count:
        raise BadInput(f"--grid {'x'.join(map(str, grid))} makes {math.prod(grid)} ranks, --ranks says {count}: make them agree")
    return count, list(grid or balanced_grid(count, dimensions)), list(extent if len(extent) > 1 else extent * dimensions)


def _check_memory(ranks: int, cells: list[int], halo: int, bytes_per_cell: int) -> None:
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = ranks * math.prod(side + 2 * halo for side in cells) * bytes_per_cell
    if needed > here and launched_ranks() is None:
        raise BadInput(f"the fields take {needed / 2**30:,.0f} GiB, this host has {here / 2**30:,.0f}: "
                       "use a smaller --extent or fewer --fields")  # fmt: skip


def balanced_grid(ranks: int, dimensions: int) -> list[int]:
    """The process grid whose sides differ least, longest first."""
    if dimensions == 1:
        return [ranks]
    sides = [side for side in range(1, ranks + 1) if ranks % side == 0 and side**dimensions <= ranks]
    return [*balanced_grid(ranks // sides[-1], dimensions - 1), sides[-1]]

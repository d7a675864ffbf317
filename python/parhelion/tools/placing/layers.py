"""The process grid as text, level by level, in the form that hwcart published."""

import numpy as np

from ...placement.numbering import Numbering
from ...placement.placement import Placement

AXES = """Z |    / Y
  |   /
  |  /
  | /
  |_______ X
"""
HWCART_NAMES = {
    "pu": "HWCART_MD_HWTHREAD", "core": "HWCART_MD_CORE", "l2": "HWCART_MD_L2CACHE", "l3": "HWCART_MD_L3CACHE",
    "numa": "HWCART_MD_NUMA", "pack": "HWCART_MD_SOCKET", "node": "HWCART_MD_NODE",
}  # fmt: skip


def cube(values: np.ndarray) -> str:
    """Numbers of a grid: x to the right, y to the back, z upwards; a fourth dimension cube by cube.

    Three dimensions are drawn slanted, with the column width that hwcart uses (4, from 1000 points on 5); one and two
    dimensions are a plain table.
    """
    if values.ndim <= 2:
        return _table(values)
    if values.ndim == 4:
        return "\n".join(f"t = {t}\n\n{cube(values[..., t])}" for t in range(values.shape[3]))
    width = 4 if values.size < 1000 else 5
    return "\n".join(_plane(values[:, :, z], width) for z in reversed(range(values.shape[2])))


def layers(placement: Placement, numbering: str = "", names: dict[str, str] | None = None) -> str:
    """All levels from the innermost out, then the rank of every grid point.

    Units inside a node are counted within it, as published. `names` replaces level names in the headings.
    """
    parts = []
    for index, level in enumerate(reversed(placement.machine.levels)):
        parts.append(f"Level {index} {(names or {}).get(level, level)}\n\n{cube(placement.units(level, True))}")
    ranks = Numbering(placement.grid, numbering).ranks()
    parts.append(f"Rank layout\n\n{cube(ranks)}")
    if len(placement.grid) >= 3:
        parts.append(AXES)
    return "\n".join(parts)


def _plane(values: np.ndarray, width: int) -> str:
    rows = []
    for y in reversed(range(values.shape[1])):
        rows.append(" " * (2 * y + 5) + "".join(f"{value:{width}d}" for value in values[:, y]))
    return "\n".join(rows) + "\n"


def _table(values: np.ndarray) -> str:
    grid = values.reshape(len(values), -1)
    width = len(str(grid.max()))
    rows = [" ".join(f"{value:{width}d}" for value in grid[:, y]) for y in reversed(range(grid.shape[1]))]
    return "\n".join(rows) + "\n"

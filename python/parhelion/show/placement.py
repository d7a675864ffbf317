"""Drawings of a placement: pictures, one row per level, one colour per unit; and text, level by level, as hwcart published it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..placement.library import PlacementError
from ..placement.numbering import Numbering
from ..placement.placement import Placement
from .palette import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png", ".pdf")
MOST_POINTS = 200_000
MOST_SLICES = 12
MOST_NUMBERS = 128


def draw(placement: Placement, path: str | Path, title: str = "") -> str:
    """Draw every level into an SVG, PNG or PDF file. Returns what was left out, or an empty string.

    Two dimensions are one picture per level; of three or four the slices along the last ones stand side by side.
    Neighboring units have different colours; a colour may return farther away.
    """
    from matplotlib.figure import Figure

    if Path(path).suffix not in FORMATS:
        raise PlacementError(f"{path}: a picture's name ends with {', '.join(FORMATS)}")
    if np.prod(placement.grid) > MOST_POINTS:
        raise PlacementError(f"a drawing of {np.prod(placement.grid)} points shows nothing: draw at most {MOST_POINTS}")
    levels = [level for level in placement.machine.levels if placement.machine.units(level) > 1]
    levels = levels or placement.machine.levels[:1]
    slices = _slices(placement.units(levels[0]))
    shown = slices[:MOST_SLICES]
    width, height = _panel_size(shown[0][1].shape)
    figure = Figure(figsize=(0.9 + width * len(shown), 0.7 + (height + 0.35) * len(levels)), layout="constrained")
    axes = figure.subplots(len(levels), len(shown), squeeze=False)
    for row, level in zip(axes, levels, strict=True):
        units = placement.units(level)
        numbered = placement.machine.units(level) <= MOST_NUMBERS
        for axis, (name, values), (_, colours) in zip(row, _slices(units), _slices(_colours(units)[units]), strict=False):
            _panel(axis, values, colours, name, numbered)
        score = placement.scores[level]
        row[0].set_ylabel(f"{level}\nJsum {score.jsum}\nJmax {score.jmax}", fontsize=7)
    figure.suptitle(title or f"{'x'.join(map(str, placement.grid))} on {placement.machine.nodes} nodes", fontsize=9)
    figure.savefig(path, dpi=150)
    return "" if len(shown) == len(slices) else f"only the first {MOST_SLICES} of {len(slices)} slices are drawn"


def _slices(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if values.ndim <= 2:
        return [("", values.reshape(len(values), -1))]
    names = ["z", "t"][: values.ndim - 2]
    found = []
    for index in np.ndindex(*values.shape[2:]):
        label = ", ".join(f"{n} = {i}" for n, i in zip(names, index, strict=True))
        found.append((label, values[(slice(None), slice(None), *index)]))
    return found


def _panel_size(shape: tuple[int, ...]) -> tuple[float, float]:
    scale = 2.6 / max(shape)
    return max(0.9, shape[0] * scale), max(0.6, shape[1] * scale)


def _panel(axis: Axes, values: np.ndarray, colours: np.ndarray, name: str, numbered: bool) -> None:
    from matplotlib.colors import ListedColormap

    axis.imshow(colours.T, origin="lower", cmap=ListedColormap(PALETTE), vmin=-0.5, vmax=len(PALETTE) - 0.5,
                interpolation="nearest")  # fmt: skip
    axis.set_xticks([])
    axis.set_yticks([])
    if name:
        axis.set_title(name, fontsize=7)
    for unit in np.unique(values) if numbered else ():
        x, y = np.argwhere(values == unit).mean(axis=0)
        axis.text(x, y, unit, ha="center", va="center", fontsize=6)


def _colours(units: np.ndarray) -> np.ndarray:
    """A colour per unit: the next one in turn that none of its neighbors has, or that the fewest of them have."""
    neighbors: list[set[int]] = [set() for _ in range(int(units.max()) + 1)]
    for axis in range(units.ndim):
        pairs = np.stack([np.take(units, range(1, units.shape[axis]), axis).ravel(),
                          np.take(units, range(units.shape[axis] - 1), axis).ravel()], 1)  # fmt: skip
        for a, b in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
            neighbors[a].add(b)
            neighbors[b].add(a)
    colours = np.full(len(neighbors), -1)
    for unit in dict.fromkeys(units.ravel().tolist()):
        taken = [int(colours[n]) for n in neighbors[unit] if colours[n] >= 0]
        in_turn = [(unit + step) % len(PALETTE) for step in range(len(PALETTE))]
        colours[unit] = min(in_turn, key=taken.count)
    return colours


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

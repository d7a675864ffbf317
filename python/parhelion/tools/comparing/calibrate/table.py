"""The grid of error rates as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ...style.terminal import table
from ...style.words import percent
from .grid import Cell


def grid_table(title: str, cells: Sequence[Cell]) -> Table:
    """A row per noise, design and number of launches; a column per effect."""
    effects = list(dict.fromkeys(cell.effect for cell in cells))
    shown = table(f"{title}: share called different (A/A) or slower", left=("noise", "measured", "launches"),
                  right=("comparisons", *("A/A" if effect == 0 else f"×{1 + effect:.3g}" for effect in effects)))  # fmt: skip
    rows: dict[tuple, dict[float, Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.noise, cell.design, cell.launches), {})[cell.effect] = cell
    for (noise, design, starts), found in rows.items():
        counts = str(next(iter(found.values())).comparisons)
        shown.add_row(noise, design, " v ".join(map(str, starts)), counts, *(percent(found[effect].share) for effect in effects))
    return shown

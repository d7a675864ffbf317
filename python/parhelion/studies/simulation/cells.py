"""The published speed-ups that the simulation is put beside."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.published import published_rows


@dataclass(frozen=True)
class Cell:
    """Blocked order against placement: one number of ranks per node, numbering, halo width and number of fields."""

    ranks_per_node: int
    numbering: str
    halo: int
    fields: int


def published_cells() -> dict[Cell, dict[str, tuple[float, float]]]:
    """Seconds per exchange (blocked, hwcart) by software, for every cell where both were published."""
    found: dict[Cell, dict[str, dict[str, float]]] = {}
    for row in published_rows():
        if row.seconds:
            cell = Cell(row.ranks_per_node, row.numbering, row.halo, row.fields)
            found.setdefault(cell, {}).setdefault(row.software, {})[row.placement] = row.seconds
    cells = {}
    for cell, by_software in found.items():
        both = {name: (times["mpicart"], times["hwcart"]) for name, times in by_software.items() if len(times) == 2}
        if both:
            cells[cell] = both
    return cells

"""Simulated speed-ups beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...tools.style.palette import BLUE, GREY
from .study import CellResult


def draw_speed_ups(results: Sequence[CellResult], path: str | Path) -> None:
    """One group per cell: the simulation as a bar, each published software as a mark."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 0.9 * len(results), 4), layout="constrained")
    axis = figure.subplots()
    axis.bar(range(len(results)), [result.speed_up for result in results], width=0.6, color=BLUE, label="simulated")
    names = list(dict.fromkeys(name for result in results for name in result.published))
    for marker, name in zip("osD^vP*", names, strict=False):
        points = [(i, r.published[name]) for i, r in enumerate(results) if name in r.published]
        axis.plot([i for i, _ in points], [b / p for _, (b, p) in points], marker, label=f"published: {name}",
                  color="none", markeredgecolor="black", markersize=6)  # fmt: skip
    axis.axhline(1, color=GREY, linewidth=0.8)
    cells = [result.cell for result in results]
    labels = [f"{c.ranks_per_node}/node\n{c.numbering}\nhalo {c.halo}\nfields {c.fields}" for c in cells]
    axis.set_xticks(range(len(results)), labels, fontsize=7)
    axis.set_ylabel("blocked order / placement")
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=150)

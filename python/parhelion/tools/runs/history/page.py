"""The page of a store's history: what changed at which run, and a plot of every figure that did."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from ...records import RecordError
from ...style import pages
from .changes import ChangePoint
from .find import History
from .plot import plot
from .text import MOST_AROUND, label, times

MOST_PLOTS = 60


def write(found: History, store: Path, file: Path) -> None:
    """Write the page; raises `RecordError` when that cannot be done."""
    pages.write(file, render(found, store), RecordError)


def render(found: History, store: Path) -> str:
    """The page; whatever records hold is escaped."""
    by_series: dict[int, list[ChangePoint]] = {}
    for turn in found.turns:
        for point in turn.points:
            by_series.setdefault(id(point.series), []).append(point)
    # What changed most comes first.
    changed = sorted(by_series.values(), key=lambda points: -max(abs(point.ratio - 1) for point in points))
    plots = [(label(points[0].series, found.series), Markup(_plot(points, f"h{number}"))) for number, points in enumerate(changed[:MOST_PLOTS])]
    return pages.render("parhelion.tools.runs.history", "history.html.j2", {"label": lambda series: label(series, found.series), "times": times},
                        found=found, store=store, plots=plots, left_out=len(changed) - len(plots), most_around=MOST_AROUND)  # fmt: skip


def _plot(points: list[ChangePoint], prefix: str) -> str:
    return plot(points[0].series, sorted(points, key=lambda point: point.place), prefix)

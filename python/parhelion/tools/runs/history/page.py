"""The page of a store's history: what changed at which run, and a plot of every figure that did."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ...records import RecordError
from ...reporting.plots import svg
from ...reporting.plots.case import WIDTH, plain_log_axis
from ...style import pages
from ...style.palette import MUTED, of_role
from .changes import ChangePoint, Series
from .find import History
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
    plots = [(label(points[0].series, found.series),
              Markup(plot(points[0].series, sorted(points, key=lambda point: point.place), f"h{number}")))
             for number, points in enumerate(changed[:MOST_PLOTS])]  # fmt: skip
    return pages.render("parhelion.tools.runs.history", "history.html.j2", {"label": lambda series: label(series, found.series), "times": times},
                        found=found, store=store, plots=plots, left_out=len(changed) - len(plots), most_around=MOST_AROUND)  # fmt: skip


def plot(series: Series, points: Sequence[ChangePoint], prefix: str) -> str:
    """Medians of runs as points, the level of each stretch as a line, a dashed line at each change."""
    from matplotlib.ticker import MaxNLocator

    with svg.figure(WIDTH, 2.2) as drawing:
        axes = drawing.subplots()
        micro = np.asarray(series.seconds) * 1e6
        axes.plot(np.arange(1, len(micro) + 1), micro, ".", color=of_role("baseline"), markersize=5)
        edges = [0, *(point.place for point in points), len(micro)]
        for first, last in zip(edges[:-1], edges[1:], strict=True):
            level = float(np.exp(np.mean(np.log(np.maximum(micro[first:last], 1e-6)))))
            axes.plot([first + 0.6, last + 0.4], [level, level], color=of_role("own"), linewidth=2)
        for point in points:
            axes.axvline(point.place + 0.5, color=MUTED, linewidth=0.8, linestyle=(0, (3, 3)))
        axes.set_yscale("log")
        axes.set_ylabel("µs, median")
        axes.set_xlabel("run, in order of time (dashed: a change)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain_log_axis(axes.yaxis)
        return svg.inline(drawing, prefix, "medians of runs over time")

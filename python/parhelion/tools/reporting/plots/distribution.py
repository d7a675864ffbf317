"""The distribution of each contender's samples in one case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...documents import CaseResult, Entry
from ...documents.results import contenders
from ...style.palette import INK, of_role
from . import svg
from .svg import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

WIDTH = 5.4
BAND = 0.28  # half the height over which points are scattered


def distribution(case: CaseResult, prefix: str) -> str:
    """Every contender on its own line: samples as points, p5 to p95 as a bar, the median as a mark."""
    entries = [case.entries[name] for name in contenders([case]) if case.entries[name].launches]
    with svg.figure(WIDTH, 0.75 + 0.3 * len(entries)) as drawing:
        axes = drawing.subplots()
        for place, entry in enumerate(entries):
            _draw(axes, place, entry)
        _label(axes, entries)
        return svg.inline(drawing, prefix, "distribution of samples, one line per contender")


def _draw(axes: Axes, place: int, entry: Entry) -> None:
    color = of_role(entry.role)
    samples = np.concatenate(entry.launches) * 1e6
    points = spread(samples)
    heights = np.random.default_rng(place).uniform(-BAND, BAND, len(points))
    axes.plot(points, place + heights, ".", color=color, alpha=0.35, markersize=3, markeredgewidth=0, zorder=2)
    low, median, high = np.quantile(samples, [0.05, 0.5, 0.95])
    axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="butt", zorder=3)
    axes.plot([median, median], [place - 0.36, place + 0.36], color=INK, linewidth=1.6, zorder=4)


def _label(axes: Axes, entries: list[Entry]) -> None:
    axes.set_yticks(range(len(entries)), [entry.contender for entry in entries], parse_math=False)
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xscale("log")
    axes.set_xlabel("µs per exchange (bar: 5th to 95th percentile; mark: median)")
    plain_log_axis(axes.xaxis)


def plain_log_axis(axis: Axis) -> None:
    """Plain numbers on a logarithmic axis, however narrow its range."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = axis.get_view_interval()
    if high > 8 * low:
        axis.set_major_locator(LogLocator(subs=(1,) if high > 200 * low else (1, 2, 5)))
    else:
        axis.set_major_locator(_even_ticks())
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _even_ticks() -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, steps=[1, 2, 5, 10])

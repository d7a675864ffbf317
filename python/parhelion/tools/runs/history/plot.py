"""One figure over the runs of a store, with its changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...reporting.plots import svg
from ...reporting.plots.distribution import WIDTH, plain_log_axis
from ...style.palette import MUTED, of_role
from .changes import ChangePoint
from .series import Series


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

"""The plots of each case: how samples are distributed, and over time, with drifts, steps and states of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from ...documents import CaseResult, Entry
from ...documents.params import case_label, some
from ...documents.results import BASELINE, contenders
from ...style.palette import INK, MUTED, of_role
from . import svg
from .svg import envelope, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator
    from matplotlib.figure import Figure

WIDTH = 5.4
BAND = 0.28  # half the height over which points are scattered


def distribution(case: CaseResult, prefix: str) -> str:
    """Every contender on its own line: samples as points, p5 to p95 as a bar, the median as a mark."""
    entries = [case.entries[name] for name in contenders([case]) if case.entries[name].launches]
    with svg.figure(WIDTH, 0.75 + 0.3 * len(entries)) as drawing:
        axes = drawing.subplots()
        for place, entry in enumerate(entries):
            _draw_samples(axes, place, entry)
        _label_samples(axes, entries)
        return svg.inline(drawing, prefix, "distribution of samples, one line per contender")


def _draw_samples(axes: Axes, place: int, entry: Entry) -> None:
    color = of_role(entry.role)
    samples = np.concatenate(entry.launches) * 1e6
    points = spread(samples)
    heights = np.random.default_rng(place).uniform(-BAND, BAND, len(points))
    axes.plot(points, place + heights, ".", color=color, alpha=0.35, markersize=3, markeredgewidth=0, zorder=2)
    low, median, high = np.quantile(samples, [0.05, 0.5, 0.95])
    axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="butt", zorder=3)
    axes.plot([median, median], [place - 0.36, place + 0.36], color=INK, linewidth=1.6, zorder=4)


def _label_samples(axes: Axes, entries: list[Entry]) -> None:
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


def timeline(case: CaseResult, prefix: str) -> str | None:
    """The library's fastest contender and the best baseline, sample by sample; beneath, the probe of the machine."""
    chosen = [entry for entry in (case.best("own"), case.best(BASELINE)) if entry]
    if not chosen:
        return None
    probe = _probe(chosen[0])
    with svg.figure(WIDTH, 2.6) as drawing:
        above, below = _axes(drawing, probe is not None)
        for entry in chosen:
            _draw_line(above, entry)
        _mark_launches(above, chosen[0])
        _label_time(above, below)
        if below is not None and probe is not None:
            _draw_probe(below, probe)
        return svg.inline(drawing, prefix, "samples over time")


def _axes(drawing: Figure, with_probe: bool) -> tuple[Axes, Axes | None]:
    if not with_probe:
        return drawing.subplots(), None
    above, below = drawing.subplots(2, sharex=True, height_ratios=[4, 1])
    return above, below


def _draw_line(axes: Axes, entry: Entry) -> None:
    color = of_role(entry.role)
    places, least, middle, greatest = envelope(np.concatenate(entry.launches) * 1e6)
    if not np.array_equal(least, greatest):
        axes.fill_between(places, least, greatest, color=color, alpha=0.2, linewidth=0)
    axes.plot(places, middle, color=color, linewidth=1.1, label=entry.contender.lstrip("_") or entry.contender)


def _mark_launches(axes: Axes, entry: Entry) -> None:
    for end in np.cumsum([len(samples) for samples in entry.launches])[:-1]:
        axes.axvline(end - 0.5, color=MUTED, linewidth=0.8, linestyle=(0, (3, 3)))


def _label_time(above: Axes, below: Axes | None) -> None:
    above.set_yscale("log")
    above.set_ylabel("µs per exchange")
    plain_log_axis(above.yaxis)
    svg.legend(above, ncols=2)
    (below or above).set_xlabel("sample, in order of time (dashed: a new launch)")


def _probe(entry: Entry) -> np.ndarray | None:
    values = [value for line in entry.lines if line.samples for value in line.probe_ns or []]
    known = np.array([np.nan if value is None else value for value in values])
    return known if len(known) == sum(map(len, entry.launches)) and np.isfinite(known).any() else None


def _draw_probe(axes: Axes, probe: np.ndarray) -> None:
    places, _, middle, _ = envelope(probe)
    axes.plot(places, middle, color=MUTED, linewidth=1)
    axes.set_ylabel("probe, ns")
    axes.set_ylim(bottom=0)


MOST_CASES = 24  # a page with hundreds of plots helps nobody


def case_plots(cases: Sequence[CaseResult], prefix: str) -> list[SimpleNamespace]:
    """One pair of plots per case that gave more than a single figure; of very many cases, evenly spaced ones."""
    timed = [case for case in cases if any(sum(map(len, entry.launches)) > 1 for entry in case.entries.values())]
    return [SimpleNamespace(title=case_label(case, cases), distribution=Markup(distribution(case, f"{prefix}c{number}d")),
                            timeline=Markup(timeline(case, f"{prefix}c{number}t") or ""))
            for number, case in enumerate(some(timed, MOST_CASES))]  # fmt: skip

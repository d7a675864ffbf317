"""Samples over time: drifts, steps and states of the machine that a median hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...documents import CaseResult, Entry
from ...documents.results import BASELINE
from ...style.palette import MUTED, of_role
from . import svg
from .distribution import WIDTH, plain_log_axis
from .svg import envelope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def timeline(case: CaseResult, prefix: str) -> str | None:
    """The library's fastest contender and the best baseline, sample by sample; beneath, the probe of the machine."""
    chosen = [entry for entry in (case.best("own"), case.best(BASELINE)) if entry]
    if not chosen:
        return None
    probe = _probe(chosen[0])
    with svg.figure(WIDTH, 2.6) as drawing:
        above, below = _axes(drawing, probe is not None)
        for entry in chosen:
            _draw(above, entry)
        _mark_launches(above, chosen[0])
        _label(above, below)
        if below is not None and probe is not None:
            _draw_probe(below, probe)
        return svg.inline(drawing, prefix, "samples over time")


def _axes(drawing: Figure, with_probe: bool) -> tuple[Axes, Axes | None]:
    if not with_probe:
        return drawing.subplots(), None
    above, below = drawing.subplots(2, sharex=True, height_ratios=[4, 1])
    return above, below


def _draw(axes: Axes, entry: Entry) -> None:
    color = of_role(entry.role)
    places, least, middle, greatest = envelope(np.concatenate(entry.launches) * 1e6)
    if not np.array_equal(least, greatest):
        axes.fill_between(places, least, greatest, color=color, alpha=0.2, linewidth=0)
    axes.plot(places, middle, color=color, linewidth=1.1, label=entry.contender.lstrip("_") or entry.contender)


def _mark_launches(axes: Axes, entry: Entry) -> None:
    for end in np.cumsum([len(samples) for samples in entry.launches])[:-1]:
        axes.axvline(end - 0.5, color=MUTED, linewidth=0.8, linestyle=(0, (3, 3)))


def _label(above: Axes, below: Axes | None) -> None:
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

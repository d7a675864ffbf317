"""Curves over a parameter that grows: message size, number of ranks, extent, number of fields, …"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ...documents import CaseResult, Entry
from ...documents.params import text, varying
from ...documents.results import contenders
from ...statistics.shift import NO_INTERVAL
from ...style.palette import of_role
from ...style.words import size_text
from . import svg
from .case import WIDTH, plain_log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = {
    "size": ("Message size", "bytes"), "ranks": ("Scaling", "ranks"), "vdim": ("Components", "components per row"),
    "components": ("Components", "components"), "extent": ("Extent", "cells per rank"),
}  # fmt: skip
LEAST = {"ranks": 2}  # points that make a curve; otherwise three
MOST_PLOTS = 12
MOST_LINES = 9
MARKS = "osD^vP*Xh"
LINES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def curve_groups(cases: Sequence[CaseResult], prefix: str) -> list[SimpleNamespace]:
    """Plots over every parameter that grows, one per combination of the other parameters that vary; `left_out` more would be there."""
    names = [name for name in AXES if name in varying(cases)]
    groups = [_group(cases, name, f"{prefix}v{number}") for number, name in enumerate(names)]
    return [group for group in groups if group.plots]


def _group(cases: Sequence[CaseResult], axis: str, prefix: str) -> SimpleNamespace:
    families = [family for family in _families(cases, axis) if len({_place(case, axis) for case in family}) >= LEAST.get(axis, 3)]
    plots = [SimpleNamespace(title=_label(family[0], cases, axis), plot=Markup(_draw(family, axis, f"{prefix}p{number}")))
             for number, family in enumerate(families[:MOST_PLOTS])]  # fmt: skip
    return SimpleNamespace(title=AXES[axis][0], plots=plots, left_out=max(0, len(families) - MOST_PLOTS))


def _families(cases: Sequence[CaseResult], axis: str) -> list[list[CaseResult]]:
    """Cases that differ in the axis alone. A data set or a process grid goes with its number of ranks."""
    found: dict[tuple[str, ...], list[CaseResult]] = {}
    for case in cases:
        if _place(case, axis) is not None and any(entry.median for entry in case.entries.values()):
            found.setdefault(tuple(_others(case, cases, axis).values()), []).append(case)
    return list(found.values())


def _others(case: CaseResult, cases: Sequence[CaseResult], axis: str) -> dict[str, str]:
    told = {name: text(case.params.get(name)) for name in varying(cases) if name != axis}
    if axis == "ranks":
        told.pop("grid", None)
        if "dataset" in told:
            told["dataset"] = told["dataset"].removesuffix(f"-{case.params.get('ranks')}")
    return told


def _label(case: CaseResult, cases: Sequence[CaseResult], axis: str) -> str:
    return ", ".join(f"{name} {value}" for name, value in _others(case, cases, axis).items())


def _place(case: CaseResult, axis: str) -> float | None:
    value: Any = case.params.get(axis)
    if isinstance(value, list) and value and len(set(map(str, value))) == 1:
        value = value[0]  # as many cells in each dimension
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _draw(family: Sequence[CaseResult], axis: str, prefix: str) -> str:
    with svg.figure(WIDTH, 3.1) as drawing:
        axes = drawing.subplots()
        names = contenders(family)
        for number, name in enumerate(names[:MOST_LINES]):
            _draw_line(axes, number, name, [(case, case.entries[name]) for case in family if name in case.entries], axis)
        _finish(axes, axis, len(names) - MOST_LINES)
        return svg.inline(drawing, prefix, f"time over {AXES[axis][1]}, one line per contender")


def _draw_line(axes: Axes, number: int, name: str, entries: Sequence[tuple[CaseResult, Entry]], axis: str) -> None:
    points = sorted((_place(case, axis), entry) for case, entry in entries if entry.median and _place(case, axis) is not None)
    if not points:
        return
    color = of_role(points[0][1].role)
    places = [place for place, _ in points]
    middle = np.array([entry.median * 1e6 for _, entry in points])
    ends = [entry.summary.interval if entry.summary else NO_INTERVAL for _, entry in points]
    low, high = ([np.nan if end is None else end * 1e6 for end in side] for side in zip(*ends, strict=True))  # unknown: no band
    axes.fill_between(places, low, high, color=color, alpha=0.15, linewidth=0)
    axes.plot(places, middle, color=color, linewidth=1.2, linestyle=LINES[number % len(LINES)], marker=MARKS[number % len(MARKS)],
              markersize=3.5, label=name.lstrip("_") or "–")  # fmt: skip


def _finish(axes: Axes, axis: str, left_out: int) -> None:
    axes.set_yscale("log")
    axes.set_ylabel("µs, median")
    places = sorted({float(place) for line in axes.lines for place in line.get_xdata()})
    if places[0] > 0:
        axes.set_xscale("log", base=2)
    else:  # 0 has no logarithm: it stands one step before 1
        axes.set_xscale("symlog", base=2, linthresh=1)
        axes.set_xlim(-0.5, places[-1] * 1.6)
    axes.set_xlabel(AXES[axis][1] + (f" ({left_out} contenders more in the table)" if left_out > 0 else ""))
    _mark_places(axes, axis, places)
    plain_log_axis(axes.yaxis)
    svg.legend(axes, ncols=3, fontsize=7.5)


def _mark_places(axes: Axes, axis: str, places: Sequence[float]) -> None:
    """Ticks at places that were measured, thinned to eight."""
    from matplotlib.ticker import NullLocator

    shown = places[:: max(1, -(-len(places) // 8))]
    axes.set_xticks(shown, [size_text(int(place)).removesuffix("B").strip() if axis == "size" else f"{place:g}" for place in shown], parse_math=False)
    axes.xaxis.set_minor_locator(NullLocator())

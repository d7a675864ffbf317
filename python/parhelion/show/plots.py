"""SVG drawings inside a page, in the page's light or dark colors; the palette of drawings in files.

Drawings use key colors (hex values with no other use), which `inline` replaces by CSS variables.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyze.results import BASELINE, OWN, CaseResult, Entry, case_label, variants, ours, some, text, varying
from ..analyze.statistics import NO_INTERVAL
from ..analyze.words import size_text, times
from . import Block, Drawing, Section, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Palette for files: Okabe and Ito's, safe for colour-blind readers, with lighter tints of the same hues.
BLUE, GREY = "#0072B2", "#999999"
PALETTE = (BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", GREY,
           "#7FB8D8", "#F2CF7F", "#7FCEB9", "#E5BCD3", "#EAAE7F")

# Key colors of drawings inside a page.
INK, MUTED, GRID = "#010101", "#010102", "#010103"
ROLES = {"own": "#010104", "baseline": "#010105", "library": "#010106", "floor": "#010107"}
VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", **{key: role for role, key in ROLES.items()}}

WIDTH, BAND = 5.4, 0.28  # inches; half the height of scattered points
MOST_POINTS, BINS = 200, 150
DASHED = (0, (3, 3))
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "parhelion", "font.size": 9, "text.color": INK, "axes.edgecolor": MUTED, "axes.labelcolor": INK,
    "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": GRID,
    "grid.linewidth": 0.6, "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK, "figure.facecolor": "none",
}


def of_role(role: str) -> str:
    return ROLES.get(role, ROLES["library"])


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of `width` × `height` inches in the page's style; needs no window system."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        yield Figure(figsize=(width, height), layout="constrained")


def inline(drawing: Figure, prefix: str, description: str) -> str:
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the page renders text in its own fonts
        drawing.savefig(buffer, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    made = buffer.getvalue()
    made = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", made[made.index("<svg") :], flags=re.DOTALL)
    made = re.sub(r'\s(xmlns(:\w+)?|version)="[^"]*"', "", made)
    made = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', made)
    made = re.sub(r'(href="#|url\(#)([^")]+)', rf"\1{prefix}-\2", made)
    made = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", made)
    for key, name in VARIABLES.items():
        made = made.replace(key, f"var(--{name})")
    return made.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)


def _legend(axes: Axes, **how: Any) -> None:
    made = axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, **how)
    for label in made.get_texts():
        label.set_parse_math(False)


def _plain_log(axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    low, high = axis.get_view_interval()
    wide = high > 8 * low
    axis.set_major_locator(LogLocator(subs=(1,) if high > 200 * low else (1, 2, 5)) if wide else MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def spread(samples: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Thin to about `most` samples, evenly spaced in rank, including both extremes."""
    if len(samples) <= most:
        return np.sort(samples)
    return np.quantile(samples, np.linspace(0, 1, most), method="nearest")


def envelope(samples: np.ndarray, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, minima, medians and maxima of the samples in `bins` bins of time."""
    edges = np.linspace(0, len(samples), min(bins, len(samples)) + 1).astype(int)
    parts = [samples[first:last] for first, last in zip(edges[:-1], edges[1:], strict=True)]
    figures = np.array([(part.min(), np.median(part), part.max()) for part in parts])
    return (edges[:-1] + edges[1:] - 1) / 2, figures[:, 0], figures[:, 1], figures[:, 2]


NAMES = {"floor": "floor: copying alone", OWN: "ours", BASELINE: "fastest by hand", "library": "fastest other library"}
MOST_ROWS = 12
WIDEST = 3.0  # times hand-written MPI; larger values are drawn at the edge


def compared(cases: Sequence[CaseResult]) -> list[CaseResult]:
    return [case for case in cases if case.best_baseline and ours(case)]


def opening(cases: Sequence[CaseResult], prefix: str, state: str = "") -> list[Block]:
    """Draw each role's fastest variant over hand-written MPI, case by case, in one core state; empty if no case has an own and a hand-written variant."""
    found = compared(cases)
    shown = some(found, MOST_ROWS)
    if not shown:
        return []
    with figure(WIDTH * 1.2, 0.9 + 0.36 * len(shown)) as drawing:
        axes = drawing.subplots()
        widest = max(_draw_role(axes, place, case, role) for place, case in enumerate(shown) for role in NAMES)
        _finish_opening(axes, shown, min(WIDEST, max(1.25, 1.1 * widest)))
        svg = inline(drawing, prefix, "Time of each case as a share of the fastest time by hand")
    more = [Text(f"{len(found) - len(shown)} more cases are in the table.", "meta")] if len(found) > len(shown) else []
    return [Drawing(svg, f"Time, hand-written MPI = 1; bars: 95 % intervals{state and f'; {state}'}"), *more]


def _draw_role(axes: Axes, place: int, case: CaseResult, role: str) -> float:
    entry = ours(case) if role == OWN else case.best(role)
    base = case.best_baseline.median if case.best_baseline else None
    if not entry or not entry.median or not base:
        return 0.0
    middle, height = entry.median / base, place + 0.22 * (list(NAMES).index(role) - 1.5)
    low, high = entry.summary.interval if entry.summary else NO_INTERVAL
    if low is not None and high is not None:
        axes.plot([low / base, high / base], [height, height], color=of_role(role), linewidth=3, alpha=0.35, solid_capstyle="butt")
    known = NAMES[role] in axes.get_legend_handles_labels()[1]
    axes.plot([min(middle, WIDEST)], [height], "o" if middle <= WIDEST else ">", color=of_role(role), markersize=5 if role == OWN else 4,
              label=None if known else NAMES[role], clip_on=False)
    return middle


def _finish_opening(axes: Axes, cases: Sequence[CaseResult], edge: float) -> None:
    names = varying(cases)
    axes.axvline(1, color=MUTED, linewidth=1.2)
    axes.set_xlim(0, edge)
    axes.set_xlabel("time ÷ time of the fastest by hand: further left is faster")
    axes.set_ylim(len(cases) - 0.5, -0.5)
    labels = [", ".join(f"{name} {text(case.params.get(name))}" for name in names) or case.name for case in cases]
    axes.set_yticks(range(len(cases)), labels, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for place, case in enumerate(cases):
        axes.annotate(times(case.speed(ours(case).variant)), (1.01, place), xycoords=("axes fraction", "data"), va="center", weight="bold")  # type: ignore[union-attr]
    _legend(axes, ncols=4, fontsize=7.5, handletextpad=0.2, columnspacing=1)


def _distribution(case: CaseResult, prefix: str, of: str) -> str:
    entries = [case.entries[name] for name in variants([case]) if case.entries[name].launches]
    with figure(WIDTH, 0.75 + 0.3 * len(entries)) as drawing:
        axes = drawing.subplots()
        for place, entry in enumerate(entries):
            color, samples = of_role(entry.role), np.concatenate(entry.launches) * 1e6
            points = spread(samples)
            heights = np.random.default_rng(place).uniform(-BAND, BAND, len(points))
            axes.plot(points, place + heights, ".", color=color, alpha=0.35, markersize=3, markeredgewidth=0, zorder=2)
            low, median, high = np.quantile(samples, [0.05, 0.5, 0.95])
            axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="butt", zorder=3)
            axes.plot([median, median], [place - 0.36, place + 0.36], color=INK, linewidth=1.6, zorder=4)
        axes.set_yticks(range(len(entries)), [entry.variant for entry in entries], parse_math=False)
        axes.set_ylim(len(entries) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.set_xscale("log")
        axes.set_xlabel(f"µs per {of} (bar: 5–95 %; mark: median)")
        _plain_log(axes.xaxis)
        return inline(drawing, prefix, "distribution of samples, one line per variant")


def _timeline(case: CaseResult, prefix: str, of: str) -> str | None:
    """Draw samples over time of the library's fastest variant and the best baseline, with the probe below."""
    chosen = [entry for entry in (case.best(OWN), case.best(BASELINE)) if entry]
    if not chosen:
        return None
    probe = _probe(chosen[0])
    with figure(WIDTH, 2.6) as drawing:
        above, below = (drawing.subplots(), None) if probe is None else drawing.subplots(2, sharex=True, height_ratios=[4, 1])
        for entry in chosen:
            color = of_role(entry.role)
            places, least, middle, greatest = envelope(np.concatenate(entry.launches) * 1e6)
            if not np.array_equal(least, greatest):
                above.fill_between(places, least, greatest, color=color, alpha=0.2, linewidth=0)
            above.plot(places, middle, color=color, linewidth=1.1, label=entry.variant.lstrip("_") or entry.variant)
        for end in np.cumsum([len(samples) for samples in chosen[0].launches])[:-1]:
            above.axvline(end - 0.5, color=MUTED, linewidth=0.8, linestyle=DASHED)
        above.set_yscale("log")
        above.set_ylabel(f"µs per {of}")
        _plain_log(above.yaxis)
        _legend(above, ncols=2)
        (above if below is None else below).set_xlabel("sample, in order of time (dashed: a new launch)")
        if below is not None and probe is not None:
            places, _, middle, _ = envelope(probe)
            below.plot(places, middle, color=MUTED, linewidth=1)
            below.set_ylabel("probe, ns")
            below.set_ylim(bottom=0)
        return inline(drawing, prefix, "samples over time")


def _probe(entry: Entry) -> np.ndarray | None:
    values = [value for line in entry.lines if line.samples for value in line.probe_ns or []]
    known = np.array([np.nan if value is None else value for value in values])
    return known if len(known) == sum(map(len, entry.launches)) and np.isfinite(known).any() else None


MOST_CASES = 24  # most cases with plots


def samples(cases: Sequence[CaseResult], prefix: str, of: str = "exchange") -> list[Block]:
    timed = [case for case in cases if any(sum(map(len, entry.launches)) > 1 for entry in case.entries.values())]
    shown = some(timed, MOST_CASES)
    left = [Text(f"Plots of {len(shown)} of {len(timed)} cases; the tables list all.", "meta")] if len(shown) < len(timed) else []
    drawn = [(_distribution(case, f"{prefix}c{number}d", of), _timeline(case, f"{prefix}c{number}t", of)) for number, case in enumerate(shown)]
    return [*left, *(Section(case_label(case, cases), [Drawing(svg) for svg in pair if svg], "closed" if number else "open")
                     for number, (case, pair) in enumerate(zip(shown, drawn, strict=True)))]


AXES = {
    "size": ("Message size", "bytes"), "ranks": ("Scaling", "ranks"), "vdim": ("Components", "components per row"),
    "components": ("Components", "components"), "extent": ("Extent", "cells per rank"),
}
LEAST = {"ranks": 2}  # minimum points of a curve, by default three
MOST_PLOTS, MOST_LINES = 12, 9
MARKS = "osD^vP*Xh"
LINES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def curves(cases: Sequence[CaseResult], prefix: str) -> list[Section]:
    names = [name for name in AXES if name in varying(cases)]
    return [found for number, name in enumerate(names) if (found := _curves_over(cases, name, f"{prefix}v{number}"))]


def _curves_over(cases: Sequence[CaseResult], axis: str, prefix: str) -> Section | None:
    found: dict[tuple[str, ...], list[CaseResult]] = {}
    for case in cases:
        if _place(case, axis) is not None and any(entry.median for entry in case.entries.values()):
            found.setdefault(tuple(_others(case, cases, axis).values()), []).append(case)
    families = [family for family in found.values() if len({_place(case, axis) for case in family}) >= LEAST.get(axis, 3)]
    plots: list[Block] = [Drawing(_draw(family, axis, f"{prefix}p{number}"), ", ".join(f"{name} {value}" for name, value in
                                  _others(family[0], cases, axis).items())) for number, family in enumerate(families[:MOST_PLOTS])]
    more = len(families) - MOST_PLOTS
    plots += [Text(f"{more} more such plots are left out; the table above holds their figures.", "meta")] if more > 0 else []
    return Section(AXES[axis][0], plots) if plots else None


def _others(case: CaseResult, cases: Sequence[CaseResult], axis: str) -> dict[str, str]:
    """Parameters that identify a curve; over ranks, without the process grid and the data set's rank count."""
    told = {name: text(case.params.get(name)) for name in varying(cases) if name != axis}
    if axis == "ranks":
        told.pop("grid", None)
        if "dataset" in told:
            told["dataset"] = told["dataset"].removesuffix(f"-{case.params.get('ranks')}")
    return told


def _place(case: CaseResult, axis: str) -> float | None:
    value: Any = case.params.get(axis)
    if isinstance(value, list) and value and len(set(map(str, value))) == 1:
        value = value[0]  # equal extents
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _draw(family: Sequence[CaseResult], axis: str, prefix: str) -> str:
    with figure(WIDTH, 3.1) as drawing:
        axes = drawing.subplots()
        names = variants(family)
        for number, name in enumerate(names[:MOST_LINES]):
            entries = [(place, case.entries[name]) for case in family if name in case.entries and (place := _place(case, axis)) is not None]
            _draw_line(axes, number, name, sorted((place, entry) for place, entry in entries if entry.median))
        _finish(axes, axis, len(names) - MOST_LINES)
        return inline(drawing, prefix, f"time over {AXES[axis][1]}, one line per variant")


def _draw_line(axes: Axes, number: int, name: str, points: Sequence[tuple[float, Entry]]) -> None:
    if not points:
        return
    color, places = of_role(points[0][1].role), [place for place, _ in points]
    middle = np.array([(entry.median or math.nan) * 1e6 for _, entry in points])
    ends = [entry.summary.interval if entry.summary else NO_INTERVAL for _, entry in points]
    low, high = ([math.nan if end is None else end * 1e6 for end in side] for side in zip(*ends, strict=True))  # NaN draws no band
    axes.fill_between(places, low, high, color=color, alpha=0.15, linewidth=0)
    axes.plot(places, middle, color=color, linewidth=1.2, linestyle=LINES[number % len(LINES)], marker=MARKS[number % len(MARKS)],
              markersize=3.5, label=name.lstrip("_") or "–")


def _finish(axes: Axes, axis: str, left_out: int) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_yscale("log")
    axes.set_ylabel("µs, median")
    places = sorted({float(place) for line in axes.lines for place in np.asarray(line.get_xdata())})
    if places[0] > 0:
        axes.set_xscale("log", base=2)
    else:  # 0 has no logarithm: draw it one step before 1
        axes.set_xscale("symlog", base=2, linthresh=1)
        axes.set_xlim(-0.5, places[-1] * 1.6)
    axes.set_xlabel(AXES[axis][1] + (f" ({left_out} variants more in the table)" if left_out > 0 else ""))
    shown = places[:: max(1, -(-len(places) // 8))]  # ticks at measured values
    axes.set_xticks(shown, [size_text(int(place)).removesuffix("B").strip() if axis == "size" else f"{place:g}" for place in shown], parse_math=False)
    axes.xaxis.set_minor_locator(NullLocator())
    _plain_log(axes.yaxis)
    _legend(axes, ncols=3, fontsize=7.5)


def history(seconds: Sequence[float], places: Sequence[int], prefix: str) -> str:
    from matplotlib.ticker import MaxNLocator

    with figure(WIDTH, 2.2) as drawing:
        axes = drawing.subplots()
        micro = np.asarray(seconds) * 1e6
        axes.plot(np.arange(1, len(micro) + 1), micro, ".", color=of_role(BASELINE), markersize=5)
        edges = [0, *places, len(micro)]
        for first, last in zip(edges[:-1], edges[1:], strict=True):
            level = float(np.exp(np.mean(np.log(np.maximum(micro[first:last], 1e-6)))))
            axes.plot([first + 0.6, last + 0.4], [level, level], color=of_role(OWN), linewidth=2)
        for place in places:
            axes.axvline(place + 0.5, color=MUTED, linewidth=0.8, linestyle=DASHED)
        axes.set_yscale("log")
        axes.set_ylabel("µs, median")
        axes.set_xlabel("run, in order of time (dashed: a change)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _plain_log(axes.yaxis)
        return inline(drawing, prefix, "medians of runs over time")

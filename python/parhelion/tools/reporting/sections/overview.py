"""What a report opens with: how many times as fast as by hand, per case the best of each role on one scale, and heat maps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult, Entry
from ...documents.params import Wording, text, varying
from ...documents.results import BASELINE, OWN, PEER, contenders, mean_speed, of_contender
from ...statistics import Interval, geometric_mean
from ...statistics.shift import NO_INTERVAL
from ...style.words import microseconds, times, times_ends


@dataclass(frozen=True)
class Headline:
    """The library's leading contender against the best baseline of each case; speeds are baseline / own."""

    contender: str | None
    mean: float | None
    interval: Interval
    slowest: float | None
    fastest: float | None
    cases: int


def headline(cases: Sequence[CaseResult]) -> Headline:
    """`auto` leads when it ran, since it is what users get; otherwise the contender with the best geometric mean."""
    speeds = own_speeds(cases)
    leader = "auto" if "auto" in speeds else max(speeds, key=lambda name: geometric_mean(speeds[name]) or 0, default=None)
    of_leader = speeds.get(leader, []) if leader else []
    mean = mean_speed(of_contender(cases, leader)) if leader else (None, NO_INTERVAL)
    return Headline(
        leader, *mean, min(of_leader, default=None), max(of_leader, default=None), len(of_leader)
    )


def means(cases: Sequence[CaseResult]) -> dict[str, tuple[float | None, Interval]]:
    """Geometric mean of every contender's speed, with its interval; empty when there is nothing to average."""
    if len(cases) < 2 or not any(case.best_baseline for case in cases):
        return {}
    return {name: mean_speed(of_contender(cases, name)) for name in contenders(cases)}


def own_speeds(cases: Sequence[CaseResult]) -> dict[str, list[float]]:
    """Per contender of the library, its speeds over the cases in which there is a baseline."""
    speeds: dict[str, list[float]] = {}
    for case in cases:
        for entry in case.entries.values():
            if entry.role == OWN and (speed := case.speed(entry.contender)):
                speeds.setdefault(entry.contender, []).append(speed)
    return speeds


MOST_ROWS = 12
AUTO = "auto"
SHOWN = ("floor", OWN, BASELINE, PEER)
WIDEST = 3.0  # times the time by hand: what lies beyond stands at the edge


@dataclass(frozen=True)
class Mark:
    """One contender in a row: its middle and its interval, in percent of the width; `beyond` where it lies past the edge."""

    role: str
    contender: str
    microseconds: str
    middle: float
    low: float
    high: float
    beyond: bool


@dataclass(frozen=True)
class Row:
    """One case: marks from the floor to the peer, and how many times as fast as by hand ours is."""

    label: str
    marks: list[Mark]
    times: str
    interval: str


@dataclass(frozen=True)
class Overview:
    """The rows of a figure, its ticks with their places, and how many cases it leaves out."""

    rows: list[Row]
    ticks: list[tuple[str, float]]
    roles: list[str]
    left_out: int


def overview(cases: Sequence[CaseResult]) -> Overview | None:
    """Times as shares of the fastest time by hand; `None` where no case has both one of ours and one by hand."""
    compared = [case for case in cases if (case.best_baseline and ours(case))]
    if not compared:
        return None
    shown = [compared[number * len(compared) // MOST_ROWS] for number in range(MOST_ROWS)] if len(compared) > MOST_ROWS else compared
    edge = _edge(shown)
    names = varying(cases)
    rows = [_row(case, names, edge) for case in shown]
    step = 0.25 if edge <= 1.5 else 0.5
    ticks = [(f"{share:g}", 100 * share / edge) for share in (step * number for number in range(int(edge / step) + 1))]
    roles = [role for role in SHOWN if any(mark.role == role for row in rows for mark in row.marks)]
    return Overview(rows, ticks, roles, len(compared) - len(shown))


def ours(case: CaseResult) -> Entry | None:
    """What users get: `auto` where it ran, else the fastest of the library."""
    entry = case.entries.get(AUTO)
    return entry if entry and entry.median else case.best(OWN)


def _chosen(case: CaseResult) -> dict[str, Entry]:
    found = {role: ours(case) if role == OWN else case.best(role) for role in SHOWN}
    return {role: entry for role, entry in found.items() if entry}


def _edge(cases: Sequence[CaseResult]) -> float:
    shares = [entry.median / case.best_baseline.median for case in cases for entry in _chosen(case).values()]  # type: ignore[operator, union-attr]
    return min(WIDEST, max(1.25, 1.1 * max(shares)))


def _row(case: CaseResult, names: Sequence[str], edge: float) -> Row:
    scale = case.best_baseline.median * edge / 100  # type: ignore[operator, union-attr]
    marks = [_mark(role, entry, scale) for role, entry in _chosen(case).items()]
    own = ours(case)
    label = ", ".join(f"{name} {text(case.params.get(name))}" for name in names) or case.name
    return Row(label, marks, times(case.speed(own.contender)), times_ends(case.speed_interval(own.contender)))  # type: ignore[union-attr]


def _mark(role: str, entry: Entry, scale: float) -> Mark:
    interval = entry.summary.interval if entry.summary else NO_INTERVAL
    middle = (entry.median or 0.0) / scale
    low, high = ((middle if end is None else min(100.0, end / scale)) for end in interval)
    return Mark(role, entry.contender, microseconds(entry.median), min(100.0, middle), min(low, middle, 100.0), max(high, low), middle > 100)


def verdicts(cases: Sequence[CaseResult], head: Headline, words: Wording) -> list[str]:
    """A sentence each: against hand-written code, against other libraries, against the floor."""
    said = [_against_hand(head, words)] if head.mean else []
    for role, beside in ((PEER, "the fastest other library"), ("floor", "the floor, which only copies")):
        ratios = [entries[role].median / entries[OWN].median for entries in map(_chosen, cases) if role in entries and OWN in entries]  # type: ignore[operator]
        if ratios:
            low, high = min(ratios), max(ratios)
            said.append(f"Against {beside}: {times(low)}" + (f" to {times(high)}" if len(ratios) > 1 else "") + f" as fast, over {_cases(len(ratios))}.")
    return said


def _against_hand(head: Headline, words: Wording) -> str:
    low, high = head.interval
    told = f"{times(head.mean)} {times_ends(head.interval)} as fast as {words.base}, geometric mean over {_cases(head.cases)}"
    if low is None or high is None:
        return f"{head.contender} is {told}; samples are too few for an interval."
    if low > 1:
        return f"{head.contender} is faster: {told}."
    return f"{head.contender} is slower: {told}." if high < 1 else f"No difference is shown between {head.contender} and {words.base}: {told}."


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


FULL_COLOR = math.log(2)  # twice or half as fast takes the full color
PLANES = (("halo", "fields"), ("dataset", "element"), ("dataset", "components"))


@dataclass(frozen=True)
class Cell:
    """One case: its speed, and the share of the color from -1 (half as fast) to 1 (twice as fast)."""

    speed: float | None
    share: float
    label: str


@dataclass(frozen=True)
class HeatMap:
    """Speeds of one contender over the plane of two parameters."""

    contender: str
    row_name: str
    column_name: str
    columns: list[str]
    rows: dict[str, list[Cell]]


def heat_maps(cases: Sequence[CaseResult]) -> list[HeatMap]:
    """One map per contender of the library, where two parameters span a plane that the cases fill once."""
    plane = next((plane for plane in PLANES if set(plane) == set(varying(cases))), None)
    return [_heat_map(cases, name, *plane) for name in own_speeds(cases)] if plane else []


def _heat_map(cases: Sequence[CaseResult], contender: str, row_name: str, column_name: str) -> HeatMap:
    columns = list(dict.fromkeys(text(case.params.get(column_name)) for case in cases))
    by_place = {(text(case.params.get(row_name)), text(case.params.get(column_name))): case for case in cases}
    rows = dict.fromkeys(row for row, _ in by_place)
    cells = {row: [_cell(by_place.get((row, column)), contender) for column in columns] for row in rows}
    return HeatMap(contender, row_name, column_name, columns, cells)


def _cell(case: CaseResult | None, contender: str) -> Cell:
    speed = case.speed(contender) if case else None
    if case is None or speed is None:
        return Cell(None, 0.0, "not measured")
    low, high = case.speed_interval(contender)
    span = f", 95 % interval {low:.2f}–{high:.2f}" if low is not None and high is not None else ", no interval: too few samples"
    best = case.best_baseline.contender if case.best_baseline else ""
    share = max(-1.0, min(1.0, math.log(speed) / FULL_COLOR))
    return Cell(speed, share, f"{speed:.2f} times as fast as {best}{span}")

"""A store's history: series over time, change points by run, what else changed there, whether the last one is for the worse."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_high
from typing import Any

import numpy as np

from ..record.read import Record
from .comparison import Change, RecordSet, changes, identity
from .results import CaseResult, results, text, with_case
from .statistics import CONFIDENCE, Interval, Shift


@dataclass(frozen=True)
class Series:
    """One figure over runs, the oldest first; `seconds` are the medians of runs whose values were right."""

    benchmark: str
    case: CaseResult
    variant: str
    build: str
    records: list[Record] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def series_of(records: Sequence[Record], wanted: Callable[[CaseResult, str], bool]) -> list[Series]:
    found: dict[tuple[str, bytes, str, str], Series] = {}
    for record in sorted(records, key=lambda each: (each.run.created, each.id)):
        benchmark, build = record.run.benchmark, str(next((launch.build for launch in record.launches), None) or "")
        for case, entry in with_case(results(record.cases)):
            if entry.median and wanted(case, entry.variant):
                key = (benchmark, identity(case.params), entry.variant, build)
                series = found.setdefault(key, Series(benchmark, case, entry.variant, build))
                series.records.append(record)
                series.seconds.append(entry.median)
    return list(found.values())


LEAST_RUNS = 6  # per series, half of them on each side of a change
SIDE = LEAST_RUNS // 2
AROUND = 2  # runs on either side for the local median
CLIP = 3.0  # in standard deviations: a single outlier is no change
LEAST_NOISE = 1e-3  # relative: run-to-run reproducibility of figures
MAD_TO_SIGMA = 1.4826
PENALTY = 3.0  # in units of log n; 2 is Schwarz's criterion


@dataclass(frozen=True)
class ChangePoint:
    """From run number `place` of its series on, times are `ratio` times what they were; `p` counts the places that were tried."""

    series: Series
    place: int
    ratio: float
    interval: Interval
    p: float
    before_s: float
    after_s: float

    @property
    def slower(self) -> bool:
        return self.ratio > 1


def change_points(listed: Sequence[Series], least: float, alpha: float) -> list[ChangePoint]:
    """Those of all series that are at least `least` (a share), with at most a share `alpha` of them false (Benjamini & Hochberg 1995)."""
    from scipy import stats

    found = [point for series in listed for point in _of_series(series, least, alpha)]
    if not found:
        return []
    # Series without a candidate count as tests with p = 1.
    p = [point.p for point in found] + [1.0] * (len(listed) - len({id(point.series) for point in found}))
    return [point for point, value in zip(found, stats.false_discovery_control(p)) if value <= alpha]


def _of_series(series: Series, least: float, alpha: float) -> list[ChangePoint]:
    """The segmentation whose changes all pass: the weakest that does not is taken out, and its two sides are joined."""
    if len(series.seconds) < LEAST_RUNS:
        return []
    values = _steady(np.log(np.maximum(series.seconds, 1e-12)))
    places = _candidates(values)
    while places:
        points = [_change_point(series, values, edges) for edges in zip([0, *places], places, [*places[1:], len(values)])]
        weak = [point for point in points if point.p > alpha or abs(math.log(point.ratio)) < math.log1p(least)]
        if not weak:
            return points
        places.remove(max(weak, key=lambda point: point.p).place)
    return []


def _steady(logs: np.ndarray) -> np.ndarray:
    """The series with runs that stand out from their neighbors pulled in to `CLIP` standard deviations."""
    from scipy import ndimage

    usual = ndimage.median_filter(logs, size=2 * AROUND + 1, mode="nearest")
    reach = CLIP * _noise(logs)
    return np.clip(logs, usual - reach, usual + reach)


def _noise(logs: np.ndarray) -> float:
    """Standard deviation from run to run, from differences of neighbors, in which a change counts once."""
    differences = np.diff(logs)
    spread = float(np.median(np.abs(differences - np.median(differences))))
    return max(LEAST_NOISE, MAD_TO_SIGMA * spread / math.sqrt(2))


def _candidates(values: np.ndarray) -> list[int]:
    """Where PELT cuts: the first run of each segment but the first."""
    import ruptures

    scaled = (values / _noise(values))[:, None]
    cuts = ruptures.Pelt(model="l2", min_size=SIDE, jump=1).fit(scaled).predict(pen=PENALTY * math.log(len(values)))
    return [int(cut) for cut in cuts[:-1]]


def _change_point(series: Series, values: np.ndarray, edges: tuple[int, int, int]) -> ChangePoint:
    """Student's t test between the two sides, with one variance, for noise is the machine's, and runs that resemble their neighbors
    counted as fewer; p is multiplied by the places tried."""
    first, place, last = edges
    before, after = values[first:place], values[place:last]
    freedom = len(before) + len(after) - 2
    error = _resemblance(before, after) * float(np.sqrt((before.var() * len(before) + after.var() * len(after)) / freedom * (1 / len(before) + 1 / len(after))))
    shift = Shift(float(np.mean(after) - np.mean(before)), max(error, 1e-12), freedom)
    p = min(1.0, shift.p * max(1, freedom + 3 - 2 * SIDE))
    middle = [float(np.exp(np.mean(side))) for side in (before, after)]
    return ChangePoint(series, place, math.exp(shift.shift), shift.interval(CONFIDENCE), p, middle[0], middle[1])


def _resemblance(*sides: np.ndarray) -> float:
    """By how much means are less sure than those of independent runs, of an autoregression of order 1 (Bayley & Hammersley 1946)."""
    residuals = [side - side.mean() for side in sides]
    whole = sum(float(side @ side) for side in residuals)
    share = sum(float(side[1:] @ side[:-1]) for side in residuals) / whole if whole else 0.0
    return math.sqrt((1 + share) / (1 - share)) if 0 < share < 1 else 1.0


@dataclass(frozen=True)
class Turn:
    """A run at which figures changed, the run before it in these series, and what was recorded that differs between the two."""

    record: Record
    before: Record
    points: list[ChangePoint]
    around: list[Change]

    @property
    def typical(self) -> float:
        return median_high(point.ratio for point in self.points)


@dataclass(frozen=True)
class Wanted:
    """Which runs and figures enter, and which changes count. `since`: changes before it are history."""

    benchmark: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    variants: tuple[str, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    least: float = 0.05
    alpha: float = 0.01
    since: datetime | None = None

    def run(self, record: Record) -> bool:
        right = self.benchmark in (None, record.run.benchmark)
        return right and all(record.labels.get(name) == value for name, value in self.labels)

    def figure(self, case: CaseResult, variant: str) -> bool:
        named = not self.variants or variant in self.variants
        return named and all(text(case.params.get(name)) == value for name, value in self.params)

    def point(self, point: ChangePoint) -> bool:
        if self.since is None:
            return True
        try:
            made = datetime.fromisoformat(point.series.records[point.place].run.created)
        except ValueError:
            return False  # records without a date sort first
        return (made if made.tzinfo else made.replace(tzinfo=UTC)) >= self.since


@dataclass(frozen=True)
class History:
    """`runs` have entered; `latest` is the last change of each series that counts; `turns` are in the order of time, the latest first."""

    runs: int
    series: list[Series]
    turns: list[Turn]
    latest: list[ChangePoint]

    @property
    def short(self) -> int:
        return sum(len(each.seconds) < LEAST_RUNS for each in self.series)


def history(records: Sequence[Record], wanted: Wanted) -> History:
    chosen = list(filter(wanted.run, records))
    series = series_of(chosen, wanted.figure)
    points = list(filter(wanted.point, change_points(series, wanted.least, wanted.alpha)))
    by_run: dict[str, list[ChangePoint]] = {}
    for point in points:
        by_run.setdefault(point.series.records[point.place].id, []).append(point)
    turns = sorted(map(_turn, by_run.values()), key=lambda turn: turn.record.run.created, reverse=True)
    latest = {id(point.series): point for point in points}  # points of a series are in order
    return History(len(chosen), series, turns, list(latest.values()))


def _turn(points: list[ChangePoint]) -> Turn:
    series, place = points[0].series, points[0].place
    before, here = series.records[place - 1], series.records[place]
    found = changes(RecordSet("before", [before]), RecordSet("here", [here]))
    # Facts that determine the library's choices.
    around = [*found["environment"], *found["ranks"], *found["libraries"]]
    return Turn(here, before, sorted(points, key=lambda point: -point.ratio), around)


def history_document(found: History, store: Path) -> dict[str, Any]:
    return {
        "schema": "parhelion.history/1", "store": str(store), "runs": found.runs, "figures": len(found.series), "too_few_runs": found.short,
        "turns": [{"run": turn.record.id, "created": turn.record.run.created, "before": turn.before.id,
                   "changes": [_told(point) for point in turn.points], "around": turn.around} for turn in found.turns],
        "slower_at_last": [_who(point.series) for point in found.latest if point.slower],
    }


def _told(point: ChangePoint) -> dict[str, Any]:
    return _who(point.series) | {"ratio": point.ratio, "ci95": point.interval, "p": point.p, "before_s": point.before_s, "after_s": point.after_s,
                                 "runs_before": point.place, "runs_since": len(point.series.seconds) - point.place}


def _who(series: Series) -> dict[str, Any]:
    return {"benchmark": series.benchmark, "params": series.case.params, "variant": series.variant, "build": series.build}

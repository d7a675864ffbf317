"""History of a store: time series, change points by run, environment changes, latest regressions."""

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
    """Medians in `seconds` of one variant on one case over the runs without wrong values, oldest first."""

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


LEAST_RUNS = 6  # minimum of a series; half of it on each side of a change
SIDE = LEAST_RUNS // 2
AROUND = 2  # runs on either side in the median filter
CLIP = 3.0  # in standard deviations; a single outlier is no change
LEAST_NOISE = 1e-3  # lower bound of the relative noise between runs
MAD_TO_SIGMA = 1.4826
PENALTY = 3.0  # in units of log n; 2 is Schwarz's criterion


@dataclass(frozen=True)
class ChangePoint:
    """From run `place` on, times are `ratio` times the earlier ones; `p` is corrected for the number of places tried."""

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
    """Return changes by a factor of 1 + `least` or more at false discovery rate `alpha` (Benjamini & Hochberg 1995)."""
    from scipy import stats

    found = [point for series in listed for point in _of_series(series, least, alpha)]
    if not found:
        return []
    # Series without a candidate are tests with p = 1.
    p = [point.p for point in found] + [1.0] * (len(listed) - len({id(point.series) for point in found}))
    return [point for point, value in zip(found, stats.false_discovery_control(p)) if value <= alpha]


def _of_series(series: Series, least: float, alpha: float) -> list[ChangePoint]:
    """Segment a series; remove the weakest insignificant change until all are significant."""
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
    """Clip outliers to `CLIP` standard deviations from the median of their neighbors."""
    from scipy import ndimage

    usual = ndimage.median_filter(logs, size=2 * AROUND + 1, mode="nearest")
    reach = CLIP * _noise(logs)
    return np.clip(logs, usual - reach, usual + reach)


def _noise(logs: np.ndarray) -> float:
    """Robust standard deviation between runs, from successive differences, of which a change affects only one."""
    differences = np.diff(logs)
    spread = float(np.median(np.abs(differences - np.median(differences))))
    return max(LEAST_NOISE, MAD_TO_SIGMA * spread / math.sqrt(2))


def _candidates(values: np.ndarray) -> list[int]:
    """Return the first run of each PELT segment but the first."""
    import ruptures

    scaled = (values / _noise(values))[:, None]
    cuts = ruptures.Pelt(model="l2", min_size=SIDE, jump=1).fit(scaled).predict(pen=PENALTY * math.log(len(values)))
    return [int(cut) for cut in cuts[:-1]]


def _change_point(series: Series, values: np.ndarray, edges: tuple[int, int, int]) -> ChangePoint:
    """Test with Student's t: pooled variance, corrected for autocorrelation; multiply p by the number of places tried."""
    first, place, last = edges
    before, after = values[first:place], values[place:last]
    freedom = len(before) + len(after) - 2
    error = _resemblance(before, after) * float(np.sqrt((before.var() * len(before) + after.var() * len(after)) / freedom * (1 / len(before) + 1 / len(after))))
    shift = Shift(float(np.mean(after) - np.mean(before)), max(error, 1e-12), freedom)
    p = min(1.0, shift.p * max(1, freedom + 3 - 2 * SIDE))
    middle = [float(np.exp(np.mean(side))) for side in (before, after)]
    return ChangePoint(series, place, math.exp(shift.shift), shift.interval(CONFIDENCE), p, middle[0], middle[1])


def _resemblance(*sides: np.ndarray) -> float:
    """Inflation of the standard error of means by AR(1) autocorrelation (Bayley & Hammersley 1946)."""
    residuals = [side - side.mean() for side in sides]
    whole = sum(float(side @ side) for side in residuals)
    share = sum(float(side[1:] @ side[:-1]) for side in residuals) / whole if whole else 0.0
    return math.sqrt((1 + share) / (1 - share)) if 0 < share < 1 else 1.0


@dataclass(frozen=True)
class Turn:
    """A run at which timings changed, the run before it, and the recorded facts that differ."""

    record: Record
    before: Record
    points: list[ChangePoint]
    around: list[Change]

    @property
    def typical(self) -> float:
        return median_high(point.ratio for point in self.points)


@dataclass(frozen=True)
class Wanted:
    """Filters of runs, timings and changes; changes before `since` do not count."""

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
            return False  # a record without a time is the oldest
        return (made if made.tzinfo else made.replace(tzinfo=UTC)) >= self.since


@dataclass(frozen=True)
class History:
    """`runs` counts the runs, `latest` holds the last change of each series; `turns` are sorted latest first."""

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
    latest = {id(point.series): point for point in points}  # the last point of a series wins
    return History(len(chosen), series, turns, list(latest.values()))


def _turn(points: list[ChangePoint]) -> Turn:
    series, place = points[0].series, points[0].place
    before, here = series.records[place - 1], series.records[place]
    found = changes(RecordSet("before", [before]), RecordSet("here", [here]))
    # Without behavior, which follows from these.
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

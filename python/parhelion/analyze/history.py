"""A store's history: series, change points by run, what else changed there, whether the last one is for the worse; as a document."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .sets import RecordSet
from .changes import Change, changes
from .params import text
from .results import CaseResult
from ..record.read import Record
from .history_series import ChangePoint, LEAST_RUNS, Series, change_points, series_of

KINDS = ("environment", "ranks", "libraries")  # what the library did follows from these


@dataclass(frozen=True)
class Turn:
    """A run at which figures changed, the run before it in these series, and what was recorded that differs between the two."""

    record: Record
    before: Record
    points: list[ChangePoint]
    around: list[Change]

    @property
    def typical(self) -> float:
        """The middle ratio."""
        ratios = sorted(point.ratio for point in self.points)
        return ratios[len(ratios) // 2]


@dataclass(frozen=True)
class Wanted:
    """Which runs and figures enter, and which changes count. `since`: changes before it are history."""

    benchmark: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    contenders: tuple[str, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    least: float = 0.05
    alpha: float = 0.01
    since: datetime | None = None

    def run(self, record: Record) -> bool:
        right = self.benchmark in (None, record.run.benchmark)
        return right and all(record.labels.get(name) == value for name, value in self.labels)

    def figure(self, case: CaseResult, contender: str) -> bool:
        """Whether a contender on a case is looked at."""
        named = not self.contenders or contender in self.contenders
        return named and all(text(case.params.get(name)) == value for name, value in self.params)


@dataclass(frozen=True)
class History:
    """`runs` have entered; `short` series have too few of them to tell; `latest` is the last change of each series that counts."""

    runs: int
    series: list[Series]
    turns: list[Turn]
    latest: list[ChangePoint]

    @property
    def short(self) -> int:
        return sum(len(each.seconds) < LEAST_RUNS for each in self.series)


def history(records: Sequence[Record], wanted: Wanted) -> History:
    """Look at all runs, and keep the changes that count."""
    chosen = [record for record in records if wanted.run(record)]
    series = series_of(chosen, wanted.figure)
    points = [point for point in change_points(series, wanted.least, wanted.alpha)
              if wanted.since is None or when(point.series.records[point.place]) >= wanted.since]  # fmt: skip
    last = {id(point.series): point for point in points}  # those of a series are in order
    return History(len(chosen), series, turns(points), list(last.values()))


def when(record: Record) -> datetime:
    """When a run was made; a record that does not say is older than all others."""
    try:
        made = datetime.fromisoformat(record.run.created)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def turns(points: Sequence[ChangePoint]) -> list[Turn]:
    """By run, the latest first."""
    found: dict[str, list[ChangePoint]] = {}
    for point in points:
        found.setdefault(point.series.records[point.place].id, []).append(point)
    listed = [_turn(each) for each in found.values()]
    return sorted(listed, key=lambda turn: turn.record.run.created, reverse=True)


def _turn(points: list[ChangePoint]) -> Turn:
    series, place = points[0].series, points[0].place
    before, here = series.records[place - 1], series.records[place]
    found = changes(RecordSet("before", [before]), RecordSet("here", [here]))
    return Turn(here, before, sorted(points, key=lambda point: -point.ratio), [each for kind in KINDS for each in getattr(found, kind)])


def history_document(found: History, store: Path) -> dict[str, Any]:
    """Runs at which figures changed, the latest first; ratios are after / before."""
    return {
        "schema": "parhelion.history/1", "store": str(store), "runs": found.runs, "figures": len(found.series), "too_few_runs": found.short,
        "turns": [{"run": turn.record.id, "created": turn.record.run.created, "before": turn.before.id,
                   "changes": [_point(point) for point in turn.points], "around": [asdict(each) for each in turn.around]} for turn in found.turns],
        "slower_at_last": [_who(point) for point in found.latest if point.slower],
    }  # fmt: skip


def _point(point: ChangePoint) -> dict[str, Any]:
    return _who(point) | {"ratio": point.ratio, "ci95": list(point.interval), "p": point.p, "before_s": point.before_s, "after_s": point.after_s,
                          "runs_before": point.place, "runs_since": len(point.series.seconds) - point.place}  # fmt: skip


def _who(point: ChangePoint) -> dict[str, Any]:
    series = point.series
    return {"benchmark": series.benchmark, "params": series.case.params, "contender": series.contender, "flavor": series.flavor}

"""Change points gathered by the run at which they are, with what else changed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...comparing import RecordSet
from ...comparing.changes import Change, changes
from ...records import Record
from .changes import ChangePoint

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

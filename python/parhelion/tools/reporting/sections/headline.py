"""The figures on top of a section: how many times as fast as hand-written MPI."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult
from ...documents.results import OWN, contenders, mean_speed, of_contender
from ...statistics import Interval, geometric_mean
from ...statistics.interval import NO_INTERVAL


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

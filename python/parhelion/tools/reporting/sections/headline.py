"""The figures on top of a section: how many times as fast as hand-written MPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult
from ...documents.results import contenders
from ...statistics import geometric_mean


@dataclass(frozen=True)
class Headline:
    """The library's leading contender against the best baseline of each case; speeds are baseline / own."""

    contender: str | None
    mean: float | None
    slowest: float | None
    fastest: float | None
    cases: int


def headline(cases: Sequence[CaseResult]) -> Headline:
    """`auto` leads when it ran, since it is what users get; otherwise the contender with the best geometric mean."""
    speeds = own_speeds(cases)
    leader = "auto" if "auto" in speeds else max(speeds, key=lambda name: geometric_mean(speeds[name]) or 0, default=None)
    of_leader = speeds.get(leader, []) if leader else []
    return Headline(
        leader, geometric_mean(of_leader), min(of_leader, default=None), max(of_leader, default=None), len(of_leader)
    )


def means(cases: Sequence[CaseResult]) -> dict[str, float | None]:
    """Geometric mean of every contender's speed; empty when there is nothing to average."""
    if len(cases) < 2 or not any(case.best_baseline for case in cases):
        return {}
    return {name: geometric_mean(case.speed(name) for case in cases) for name in contenders(cases)}


def own_speeds(cases: Sequence[CaseResult]) -> dict[str, list[float]]:
    """Per contender of the library, its speeds over the cases in which there is a baseline."""
    speeds: dict[str, list[float]] = {}
    for case in cases:
        for entry in case.entries.values():
            if entry.role == "own" and (speed := case.speed(entry.contender)):
                speeds.setdefault(entry.contender, []).append(speed)
    return speeds

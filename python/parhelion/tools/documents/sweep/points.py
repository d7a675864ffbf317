"""The times of a sweep, of one state of the machine: cores that are now near and now far would break every line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...statistics import Interval, Summary, summarize
from ...statistics.states import state_boundary
from ..results import Entry

LEAST_SAMPLES = 5


@dataclass(frozen=True)
class Point:
    """One size: the samples that count, launch by launch, and what they say."""

    size: int
    by_launch: dict[int, np.ndarray]
    summary: Summary

    @property
    def median(self) -> float:
        return self.summary.median

    @property
    def interval(self) -> Interval:
        """That of the median; without ends where samples are too few for one."""
        return self.summary.interval


def points(entries: Sequence[Entry], key: str) -> list[Point]:
    """A point per entry that has samples of the state in which most entries were measured."""
    probes = np.array([value for entry in entries for line in entry.lines for value in line.probe_ns or [] if value], dtype=float)
    boundary = state_boundary(probes) if len(probes) else None
    sides = [None] if boundary is None else [False, True]
    found = [[point for entry in entries if (point := _point(entry, key, boundary, side))] for side in sides]
    return max(found, key=len)


def _point(entry: Entry, key: str, boundary: float | None, far: bool | None) -> Point | None:
    by_launch = {line.launch: _of_state(line.samples, line.probe_ns, boundary, far) for line in entry.lines if line.samples}
    kept = {launch: samples for launch, samples in by_launch.items() if len(samples)}
    summary = summarize(list(kept.values()))
    if summary is None or (far is not None and summary.count < LEAST_SAMPLES):
        return None
    return Point(int(entry.params[key]), kept, summary)


def _of_state(samples: list[float], probe: list[float | None] | None, boundary: float | None, far: bool | None) -> np.ndarray:
    values = np.asarray(samples, dtype=float)
    if boundary is None or far is None or probe is None or len(probe) != len(samples):
        return values
    known = np.array([np.nan if value is None else value for value in probe])
    return values[(known > boundary) == far]

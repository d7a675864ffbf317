"""Times over sizes: one curve per contender, and per combination of all other parameters.

Its points are of one state of the machine: cores that are now near and now far would break every line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .shift import Interval
from .summary import Summary, summarize
from .states import state_boundary
from .params import text
from .results import CaseResult, Entry, contenders

SIZE = "size"
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


@dataclass
class Curve:
    """Entries of one contender in ascending order of size, all of them verified and timed."""

    contender: str
    others: dict[str, Any]
    entries: list[Entry] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        return [entry.params[SIZE] for entry in self.entries]

    @cached_property
    def points(self) -> list[Point]:
        """What changes are looked for in: samples of one state of the machine."""
        return points(self.entries, SIZE)

    @property
    def launches(self) -> set[int]:
        """The launches that it was measured in."""
        return {line.launch for entry in self.entries for line in entry.lines if line.samples}

    @property
    def sends_messages(self) -> bool:
        """False for what goes through shared memory alone; what is not told counts as true."""
        return any(line.messages != 0 for entry in self.entries for line in entry.lines if line.samples)

    def label(self, names: Sequence[str]) -> str:
        """The parameters named, and the contender."""
        return " ".join([*(text(self.others.get(name)) for name in names), self.contender])


def curves(cases: Sequence[CaseResult]) -> list[Curve]:
    """Every curve of at least two sizes; the calls of MPI first, for theirs are the algorithms that nobody sees."""
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(contenders(cases), key=lambda name: not name.startswith("mpi_")):
        for case in sorted((case for case in cases if _size(case)), key=_size):
            entry = case.entries.get(name)
            if entry and entry.median:
                others = {key: value for key, value in case.params.items() if key != SIZE}
                found.setdefault((name, str(sorted(others.items()))), Curve(name, others)).entries.append(entry)
    return [curve for curve in found.values() if len(curve.entries) > 1]


def differing(all_curves: Sequence[Curve]) -> list[str]:
    """Parameters, other than the size, that tell curves apart."""
    names = dict.fromkeys(name for curve in all_curves for name in curve.others)
    return [name for name in names if len({text(curve.others.get(name)) for curve in all_curves}) > 1]


def _size(case: CaseResult) -> int:
    size = case.params.get(SIZE)
    return size if isinstance(size, int) else 0


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

"""Times over sizes: one curve per contender, and per combination of all other parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..params import text
from ..results import CaseResult, Entry, contenders
from .points import Point, points

SIZE = "size"


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

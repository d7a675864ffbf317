"""What pattern and plan cost, counted in exchanges, and what `auto` chose when the plan was made."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ...documents import CaseResult, Entry
from ...documents.params import case_label


@dataclass(frozen=True)
class Setup:
    """The dearest set-up of the library, in exchanges of its own."""

    most: float
    contender: str
    name: str

    @property
    def summary(self) -> str:
        return f"pattern and plan cost at most {self.most:.0f} exchanges ({self.contender}, {self.name})"


def setup_exchanges(entry: Entry) -> float:
    """Pattern and plan over one exchange of the steady state."""
    cost = entry.setup_s
    return (cost.get("pattern", 0.0) + cost.get("plan", 0.0)) / entry.median if entry.median else float("nan")


def setup(cases: Sequence[CaseResult]) -> Setup | None:
    """The dearest set-up over all cases, or `None` when none was told."""
    entries = [
        (setup_exchanges(entry), entry.contender, case_label(case, cases))
        for case in cases
        for entry in case.entries.values()
        if entry.role == "own" and entry.setup_s and entry.median
    ]
    return Setup(*max(entries)) if entries else None


def choices(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """What each contender of the library that chooses told about it, by case."""
    return [
        (case_label(case, cases), _told(line.explain))
        for case in cases
        for entry in case.entries.values()
        for line in entry.lines[:1]
        if entry.contender == "auto" and line.explain
    ]


def _told(explain: object) -> str:
    return explain if isinstance(explain, str) else msgspec.json.encode(explain).decode()

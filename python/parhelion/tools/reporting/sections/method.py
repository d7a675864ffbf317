"""How a run was measured, read back from what is in it: counts, which contenders gave right values, what pattern and plan cost in exchanges, what `auto` chose."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ...documents import CaseResult, Entry
from ...documents.params import case_label
from ...documents.results import entries, reasons
from ...records import Record


@dataclass(frozen=True)
class Method:
    """Counts that tell how much stands behind the figures."""

    launches: int
    samples: int
    samples_each: str
    exchanges: int
    ranks: str


def method(record: Record) -> Method:
    """Counts over the whole run."""
    lines = [line for line in record.cases if line.samples]
    each = sorted({len(line.samples) for line in lines})
    ranks = sorted({launch.ranks for launch in record.launches})
    return Method(
        launches=len(record.launches),
        samples=sum(len(line.samples) for line in lines),
        samples_each=f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]) if each else "no",
        exchanges=sum(len(line.samples) * (line.iterations or 1) for line in lines),
        ranks=", ".join(map(str, ranks)) or "unknown",
    )


@dataclass(frozen=True)
class Verification:
    """Counts of contender × case; `failed` lists each, `reasons` maps why something did not run to where."""

    verified: int
    failed: list[Entry]
    unverified: list[Entry]
    reasons: dict[str, list[str]]


def verification(cases: Sequence[CaseResult]) -> Verification:
    """The state of every contender on every case."""
    every = entries(cases)
    return Verification(
        verified=sum(entry.verified for entry in every),
        failed=[entry for entry in every if entry.failed],
        unverified=[entry for entry in every if entry.ran and not entry.verified and not entry.failed],
        reasons={f"{kind}: {why}": names for (kind, why), names in reasons(cases).items()},
    )


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

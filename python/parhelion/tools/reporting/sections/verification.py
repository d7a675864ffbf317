"""Which contenders gave right values, which failed, and which did not run and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult, Entry
from ...documents.results import entries, reasons


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

"""Which contenders gave right values, which failed, and which did not run and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult, Entry


@dataclass(frozen=True)
class Verification:
    """Counts of contender × case; `failed` lists each, `reasons` maps why something did not run to where."""

    verified: int
    failed: list[Entry]
    unverified: list[Entry]
    reasons: dict[str, list[str]]


def verification(cases: Sequence[CaseResult]) -> Verification:
    """The state of every contender on every case."""
    entries = [entry for case in cases for entry in case.entries.values()]
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        for kind, why in (("failed", entry.error), ("skipped", entry.skipped)):
            if why and entry.contender not in reasons.setdefault(f"{kind}: {why}", []):
                reasons[f"{kind}: {why}"].append(entry.contender)
    return Verification(
        verified=sum(entry.verified for entry in entries),
        failed=[entry for entry in entries if entry.failed],
        unverified=[entry for entry in entries if entry.ran and not entry.verified and not entry.failed],
        reasons=reasons,
    )

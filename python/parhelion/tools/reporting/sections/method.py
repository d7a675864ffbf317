"""How a run was measured and verified, what pattern and plan cost in exchanges, and what `auto` chose."""

from collections.abc import Sequence
from types import SimpleNamespace

import msgspec

from ...documents import CaseResult, Entry
from ...documents.params import case_label
from ...documents.results import entries, reasons
from ...records import Record


def method(record: Record, cases: Sequence[CaseResult]) -> SimpleNamespace:
    """Counts over the whole run, which tell how much stands behind the figures, and how intervals were found."""
    lines = [line for line in record.cases if line.samples]
    each = sorted({len(line.samples) for line in lines})
    ranks = sorted({launch.ranks for launch in record.launches})
    return SimpleNamespace(
        launches=len(record.launches),
        samples=sum(len(line.samples) for line in lines),
        samples_each=f"{each[0]}–{each[-1]}" if len(each) > 1 else str(each[0]) if each else "no",
        exchanges=sum(len(line.samples) * (line.iterations or 1) for line in lines),
        ranks=", ".join(map(str, ranks)) or "unknown",
        intervals=sorted({str(entry.summary.method) for entry in entries(cases) if entry.summary and entry.summary.method}),
        ratios=sorted({told for case in cases for name in case.entries if (told := case.ratio(name).method)}),
    )


def verification(cases: Sequence[CaseResult]) -> SimpleNamespace:
    """Counts of contender × case; `failed` lists each, `reasons` maps why something did not run to where."""
    every = entries(cases)
    return SimpleNamespace(
        verified=sum(entry.verified for entry in every),
        failed=[entry for entry in every if entry.failed],
        unverified=[entry for entry in every if entry.ran and not entry.verified and not entry.failed],
        reasons={f"{kind}: {why}": names for (kind, why), names in reasons(cases).items()},
    )


def setup_exchanges(entry: Entry) -> float:
    """Pattern and plan over one exchange of the steady state."""
    cost = entry.setup_s
    return (cost.get("pattern", 0.0) + cost.get("plan", 0.0)) / entry.median if entry.median else float("nan")


def setup(cases: Sequence[CaseResult]) -> str | None:
    """The dearest set-up of the library over all cases, in exchanges of its own; `None` when none was told."""
    entries = [
        (setup_exchanges(entry), entry.contender, case_label(case, cases))
        for case in cases
        for entry in case.entries.values()
        if entry.role == "own" and entry.setup_s and entry.median
    ]
    if not entries:
        return None
    most, contender, name = max(entries)
    return f"pattern and plan cost at most {most:.0f} exchanges ({contender}, {name})"


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

"""The document that `parhelion bench --json` writes, schema `parhelion.bench/1`."""

from typing import Any

from ..errors import BAD_INPUT, OK, RANKS_FAILED, WRONG_VALUE
from ..measure.ranks import exit_text
from ..record.model import End, FINISHED, UNAVAILABLE
from ..record.read import Record
from .figures import told
from .published_form import over_hand_written, share
from .remarks import remarks, skew
from .results import CaseResult, Entry, PEER, entries, results
from .sweep_findings import sweep_document

SCHEMA = "parhelion.bench/1"


def bench_document(record: Record) -> dict[str, Any]:
    """Everything a script wants of one run; seconds throughout."""
    cases = results(record.cases)
    return {
        "schema": SCHEMA,
        "benchmark": record.run.benchmark,
        "run": record.id,
        "record": str(record.path),
        "labels": record.labels,
        "environment": record.run.environment,
        "notes": remarks(record, cases),
        "failures": [{"launch": end.launch, "status": end.status, "message": end.message} for end in failed(record)],
        "cases": [case_object(case, entry) for case in cases for entry in case.entries.values() if entry.ran],
        **_sweep(record, cases),
        "not_run": [reason_object(entry) for entry in entries(cases) if not entry.ran],
    }


def _sweep(record: Record, cases: list[CaseResult]) -> dict[str, Any]:
    if not any("size" in case.params or "network" in case.params for case in cases):
        return {}
    return sweep_document(record, cases)


def failed(record: Record) -> list[End]:
    """How those launches ended that did not get to the end of their cases; one end per launch."""
    last = {end.launch: end for end in record.ends}
    return [end for end in last.values() if end.status not in (*FINISHED, UNAVAILABLE)]


def exit_status(record: Record) -> int:
    """2 when the ranks refused their input, 3 when they failed otherwise, 1 when a value was wrong, else 0.

    Other libraries' wrong values are shown, but are no fault of what is measured here.
    """
    statuses = {str(end.status) for end in failed(record)}
    if exit_text(BAD_INPUT) in statuses:
        return BAD_INPUT
    if statuses:
        return RANKS_FAILED
    wrong = any(entry.failed and entry.role != PEER for entry in entries(results(record.cases)))
    return WRONG_VALUE if wrong else OK


def case_object(case: CaseResult, entry: Entry) -> dict[str, Any]:
    """One contender on one case."""
    return {
        **_who(entry),
        "verified": entry.verified,
        **told(entry.summary),
        "time_over_best_baseline": case.relative(entry.contender),
        "samples": [sample for line in entry.lines for sample in line.samples],
        **_skew(entry),
        **_exchange(case, entry),
        "launches": [line.launch for line in entry.lines],
        "setup_s": entry.setup_s,
        "bytes": next((line.bytes for line in entry.lines if line.bytes is not None), None),
        "messages": next((line.messages for line in entry.lines if line.messages is not None), None),
        **({"traffic_by_level": levels} if (levels := by_level(entry)) else {}),
        "explain": next((line.explain for line in entry.lines if line.explain), None),
        "error": entry.error,
    }


def _skew(entry: Entry) -> dict[str, Any]:
    found = skew(entry)
    return {"skew_s": found.apart, "together_s": found.together, "last_rank": found.rank, "last_rank_share": found.share} if found else {}


def by_level(entry: Entry) -> dict[str, dict[str, int]] | None:
    """Messages and bytes by level of the machine, where that was asked for and is known."""
    return next((line.traffic_by_level for line in entry.lines if line.traffic_by_level), None)


def _exchange(case: CaseResult, entry: Entry) -> dict[str, Any]:
    """Of whole applications."""
    found = share(entry)
    if not found:
        return {}
    return {
        "exchange_s": found.exchange,
        "exchange_share": found.of_step,
        "exchange_with_setup_s": found.with_setup,
        "exchange_over_best_baseline": over_hand_written(case, entry),
        "exchange_lines": found.lines,
    }


def reason_object(entry: Entry) -> dict[str, Any]:
    """A contender that gave no timing of a case, and why."""
    return {**_who(entry), "skipped": entry.skipped, "error": entry.error}


def _who(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "params": entry.params, "contender": entry.contender, "role": entry.role}

"""The document of `parhelion compare --json`."""

from dataclasses import asdict
from typing import Any

from .comparison import Comparison, Row
from .sets import RecordSet

SCHEMA = "parhelion.compare/3"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Everything that was found; ratios are B / A, so above 1 means slower."""
    first, second = comparison.sets
    return {
        "schema": SCHEMA,
        "A": _side(first),
        "B": _side(second),
        "machines": [asdict(change) for change in comparison.machines],
        "rules": asdict(comparison.rules),
        "cases": [_row(row) for row in comparison.rows],
        "only_in_A": comparison.only["A"],
        "only_in_B": comparison.only["B"],
        "failed_in_A": comparison.failed["A"],
        "failed_in_B": comparison.failed["B"],
        "changes": asdict(comparison.changes),
    }


def _side(side: RecordSet) -> dict[str, Any]:
    runs = [record.id for record in side.records]
    return {"name": side.name, "runs": runs, "launches": side.launches, "notes": side.remarks}


def _row(row: Row) -> dict[str, Any]:
    found = row.difference
    return {
        "name": row.case.name,
        "params": row.case.params,
        "contender": row.contender,
        "median_s": list(row.medians),
        "ratio": found.ratio,
        "ci95": list(found.interval),
        "ratio_by_state": found.states,
        "p": found.p,
        "p_adjusted": row.p_adjusted,
        "cliffs_delta": found.cliffs_delta,
        "compared": str(found.kind),
        "units": list(found.units),
        "single_launch": found.single_launch,
        "verdict": str(row.verdict),
    }

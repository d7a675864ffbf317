"""The document of `parhelion compare --json`, and the same as Markdown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .comparison import Comparison, Row
from .sets import RecordSet

SCHEMA = "parhelion.compare/1"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Everything that was found; ratios are B / A, so above 1 means slower."""
    first, second = comparison.sets
    return {
        "schema": SCHEMA,
        "A": _side(first),
        "B": _side(second),
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
        "p_launches": found.p_launches,
        "p_mann_whitney": found.p_mann_whitney,
        "p_adjusted": row.p_adjusted,
        "cliffs_delta": found.cliffs_delta,
        "hodges_lehmann_ratio": found.hodges_lehmann,
        "launches": list(found.units),
        "single_launch": found.single_launch,
        "verdict": str(row.verdict),
    }

"""What a sweep adds to the JSON document of a benchmark."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...records import Record
from ..results import CaseResult
from .changes import changes
from .curves import Curve, curves
from .image_test import published_rows
from .matrix import MatrixRow, matrix
from .thresholds import limits, thresholds


def sweep_document(record: Record, cases: Sequence[CaseResult]) -> dict[str, Any]:
    """`published`: the published layout, µs; `sweep`: changes and limits of each curve; `combinations` of a matrix."""
    made = matrix(cases)
    return {
        **({"combinations": [_combination(row) for row in made.rows]} if made else {}),
        "published": [asdict(row) for row in published_rows(record, cases)],
        "sweep": [curve_object(record, curve) for curve in curves(cases)],
    }


def _combination(row: MatrixRow) -> dict[str, Any]:
    return {"mpi": row.mpi, "network": row.network, "ran": row.reason is None, "reason": row.reason}


def curve_object(record: Record, curve: Curve) -> dict[str, Any]:
    """One curve: what was seen, beside what the MPI tells of itself."""
    seen = changes(curve)
    beside = thresholds(record, curve, seen)
    return {
        "contender": curve.contender,
        "params": curve.others,
        "changes": [
            {**asdict(change), "variables": sorted(each.name for each in beside if change.covers(each.value))} for change in seen
        ],
        "limits": [{"name": each.name, "bytes": each.value, "seen": each.change is not None} for each in beside],
        "limits_outside": sorted(set(limits(record, curve)) - {each.name for each in beside}),
    }

"""What a run over sizes, or over MPIs and networks, has beside the common tables, and in the JSON document."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..record.read import Record
from .words import size_text
from .results import CaseResult
from .sweep_changes import Change, KNEE, Threshold, changes, limits, thresholds
from .curves import Curve, curves, differing
from .layouts import Matrix, PublishedRow, matrix, published_rows

BEND = 1.25


@dataclass(frozen=True)
class Break:
    """A knee, or a size at which more bytes take less time, with the MPI's own limits that lie there."""

    who: str
    kind: str
    what: str
    limits: list[str]


@dataclass(frozen=True)
class Sweep:
    """`quiet` lists limits of the MPI at which nothing changed, with the curve that each might have concerned."""

    published: list[PublishedRow]
    curves: list[Curve]
    breaks: list[Break]
    quiet: list[tuple[Threshold, str]]
    matrix: Matrix | None


def sweep(record: Record, cases: Sequence[CaseResult]) -> Sweep:
    """Empty lists where there is nothing of the kind."""
    lines = curves(cases)
    names = differing(lines)
    breaks, quiet = [], dict[tuple[Threshold, str], None]()
    for curve in lines:
        who, seen = curve.label(names), changes(curve)
        beside = thresholds(record, curve, seen)
        breaks += [Break(who, change.kind, change_text(change), [each.text for each in beside if change.covers(each.value)])
                   for change in seen]  # fmt: skip
        quiet |= {(each, who): None for each in beside if each.change is None}
    return Sweep(published_rows(record, cases), lines, breaks, list(quiet), matrix(cases))


def change_text(change: Change) -> str:
    """What was seen between two sizes."""
    where = f"from {size_text(change.below)} to {size_text(change.above)}"
    if change.kind == KNEE and change.against:
        than = f"{change.against:.2f} times what the sizes below let expect{_slope(change)}"
        return f"{where} the time goes up {change.growth:.2f} times, {than}" if change.growth >= 1 else \
            f"{where} the time falls to {change.growth:.2f} of itself, {than}"  # fmt: skip
    return f"{where} the time falls to {change.growth:.2f} of itself: more bytes in less time"


def _slope(change: Change) -> str:
    """Said where the line bends rather than jumps."""
    if change.ns_per_byte is None or not 1 / BEND < (change.against or 0) < BEND:
        return ""
    below, above = change.ns_per_byte
    return f"; a byte costs {above:.2g} ns from there, {below:.2g} ns before"


def sweep_document(record: Record, cases: Sequence[CaseResult]) -> dict[str, Any]:
    """`published`: the published layout, µs; `sweep`: changes and limits of each curve; `combinations` of a matrix."""
    made = matrix(cases)
    rows = made.rows if made else []
    combinations = [{"mpi": row.mpi, "network": row.network, "ran": row.reason is None, "reason": row.reason} for row in rows]
    return {
        **({"combinations": combinations} if made else {}),
        "published": [asdict(row) for row in published_rows(record, cases)],
        "sweep": [curve_object(record, curve) for curve in curves(cases)],
    }


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

"""The published layout, where a sweep breaks, and what a matrix ran: tables that follow the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult
from ...documents.sweep import Change, PublishedRow, changes, curves, published_rows, thresholds
from ...documents.sweep.curves import differing
from ...documents.sweep.matrix import MatrixRow, is_matrix, leader, matrix_rows
from ...documents.sweep.words import change_text, threshold_text
from ...records import Record


@dataclass(frozen=True)
class Break:
    """A knee, or a size at which more bytes take less time, with the MPI's own limits that lie there."""

    who: str
    kind: str
    what: str
    limits: list[str]


@dataclass(frozen=True)
class Matrix:
    """Combinations down, cases across; `contender` is the one whose times are shown."""

    contender: str
    columns: list[str]
    rows: list[MatrixRow]

    @property
    def ran(self) -> int:
        return sum(not row.reason for row in self.rows)


@dataclass(frozen=True)
class Sweep:
    """What a run over sizes, or over MPIs and networks, has beside the common tables."""

    published: list[PublishedRow]
    breaks: list[Break]
    quiet: list[str]
    looked: bool
    matrix: Matrix | None


def sweep(record: Record, cases: Sequence[CaseResult]) -> Sweep:
    """Empty lists where there is nothing of the kind."""
    lines = curves(cases)
    names = differing(lines)
    breaks, quiet = [], dict[str, None]()
    for curve in lines:
        seen = changes(curve)
        beside = thresholds(record, curve, seen)
        breaks += [_break(curve.label(names), change, [threshold_text(each) for each in beside if change.covers(each.value)])
                   for change in seen]  # fmt: skip
        quiet |= {f"{threshold_text(each)} ({curve.label(names)})": None for each in beside if each.change is None}
    return Sweep(published_rows(record, cases), breaks, list(quiet), bool(lines), _matrix(cases))


def _break(who: str, change: Change, limits: list[str]) -> Break:
    return Break(who, change.kind, change_text(change), limits)


def _matrix(cases: Sequence[CaseResult]) -> Matrix | None:
    if not is_matrix(cases):
        return None
    rows, columns = matrix_rows(cases)
    return Matrix(leader(cases), columns, rows)

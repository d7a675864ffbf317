"""The table of a matrix: a row per combination, a column per case, and why a combination has no figures."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult
from ..documents.sweep.matrix import MatrixRow, matrix_rows, matrix_title
from ..documents.wording import wording
from ..records import Record
from ..style.words import microseconds


def print_matrix(console: Console, record: Record, cases: Sequence[CaseResult]) -> None:
    """Nothing is left out: what cannot run has a row with its reason."""
    rows, columns = matrix_rows(cases)
    caption = f"µs per {wording(record.run.benchmark).of}, median; all contenders and cases: see the report or --json"
    table = Table(title=escape(matrix_title(record.run.benchmark, rows)), caption=caption, title_justify="left", caption_justify="left")
    for name in ("MPI", "network"):
        table.add_column(name)
    for name in columns:
        table.add_column(escape(name), justify="right")
    for row in rows:
        table.add_row(escape(row.mpi), escape(row.network), *_cells(row))
    console.print(table)
    for reason, who in _reasons(rows).items():
        console.print(f"[note]cannot run:[/] {escape(', '.join(who))}: {escape(reason)}", soft_wrap=True)


def _cells(row: MatrixRow) -> list[str]:
    cells = [microseconds(entry.median) if entry and entry.median else "[bad]FAILED[/]" if entry and entry.failed else "–"
             for entry in row.entries]  # fmt: skip
    return ["[dim]cannot run[/]", *["[dim]–[/]"] * (len(cells) - 1)] if row.reason and cells else cells


def _reasons(rows: Sequence[MatrixRow]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            found.setdefault(row.reason, []).append(f"{row.mpi} over {row.network}")
    return found

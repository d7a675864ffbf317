"""The table of a matrix: a row per combination, a column per case, and why a combination has no figures."""

from rich.console import Console
from rich.markup import escape

from ..documents.sweep.matrix import Matrix, MatrixRow
from ..documents.wording import wording
from ..style.terminal import table
from ..style.words import microseconds


def print_matrix(console: Console, benchmark: str, matrix: Matrix) -> None:
    """Nothing is left out: what cannot run has a row with its reason."""
    title = f"{benchmark}, {matrix.contender}: {matrix.ran} of {len(matrix.rows)} combinations ran"
    caption = f"µs per {wording(benchmark).of}, median; all contenders and cases: see the report or --json"
    shown = table(title, caption, left=("MPI", "network"), right=matrix.columns)
    reasons: dict[str, list[str]] = {}
    for row in matrix.rows:
        shown.add_row(escape(row.mpi), escape(row.network), *_cells(row))
        if row.reason:
            reasons.setdefault(row.reason, []).append(f"{row.mpi} over {row.network}")
    console.print(shown)
    for reason, who in reasons.items():
        console.print(f"[note]cannot run:[/] {escape(', '.join(who))}: {escape(reason)}", soft_wrap=True)


def _cells(row: MatrixRow) -> list[str]:
    cells = [microseconds(entry.median) if entry and entry.median else "[bad]FAILED[/]" if entry and entry.failed else "–"
             for entry in row.entries]  # fmt: skip
    return ["[dim]cannot run[/]", *["[dim]–[/]"] * (len(cells) - 1)] if row.reason and cells else cells

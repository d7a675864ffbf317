"""What a sweep over sizes prints after its table: the published layout, and where the lines break; and the table of a matrix."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents.params import wording
from ..documents.sweep.changes import LEAST_SIZES, Threshold
from ..documents.sweep.findings import Break, Sweep
from ..documents.sweep.layouts import FIGURES, WORDS, Matrix, MatrixRow, PublishedRow
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


MOST_ROWS = 60


def print_sweep(console: Console, found: Sweep) -> None:
    """Nothing where the cases are no sweep."""
    if found.published:
        console.print(_published(found.published[:MOST_ROWS]))
        if len(found.published) > MOST_ROWS:
            console.print(f"… and {len(found.published) - MOST_ROWS} more rows: see --json or the report", style="dim")
    console.print()
    for each in found.breaks:
        console.print(_line(each), soft_wrap=True, highlight=False)
    if not found.breaks and any(len(curve.points) >= LEAST_SIZES for curve in found.curves):
        console.print("no knee, and no size at which more bytes take less time", style="dim")
    for text in _unseen(found.quiet):
        console.print(text, style="dim", soft_wrap=True, markup=False)


def _published(rows: Sequence[PublishedRow]) -> Table:
    """Image, network, reservation, notes, size, first call, later calls."""
    caption = "µs, mean(std): the digits in brackets are the standard deviation in units of the last digits; first call: the very " \
        "first after MPI_Init, which connects the ranks"  # fmt: skip
    shown = table("published layout", caption, left=WORDS)
    for name in FIGURES:
        shown.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(*map(escape, row.words()))
    return shown


def _line(each: Break) -> str:
    why = f"; there lies {', '.join(each.limits)}" if each.limits else ""
    return f"[note]{each.kind}:[/] {escape(each.who)}: {escape(each.what + why)}"


def _unseen(quiet: Sequence[tuple[Threshold, str]]) -> list[str]:
    """Limits of the call itself at which nothing was seen, each once, with the curves that it might have concerned."""
    found: dict[str, list[str]] = {}
    for limit, who in quiet:
        if limit.of_collective:
            found.setdefault(limit.text, []).append(who)
    return [f"the MPI tells a limit, {text}, at which nothing changed: {', '.join(who)}" for text, who in found.items()]

"""What a sweep over sizes prints after its table: the published layout, and where the lines break."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult
from ..documents.sweep import Change, Curve, PublishedRow, Threshold, changes, curves, published_rows, thresholds
from ..documents.sweep.changes import LEAST_SIZES
from ..documents.sweep.curves import differing
from ..documents.sweep.words import change_text, threshold_text
from ..records import Record
from ..style.words import size_text

MOST_ROWS = 60


def print_sweep(console: Console, record: Record, cases: Sequence[CaseResult]) -> None:
    """Nothing where the cases are no sweep."""
    rows = published_rows(record, cases)
    if rows:
        console.print(published_table(rows[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            console.print(f"… and {len(rows) - MOST_ROWS} more rows: see --json or the report", style="dim")
    _print_changes(console, record, curves(cases))


def published_table(rows: Sequence[PublishedRow]) -> Table:
    """Image, network, reservation, notes, size, first call, later calls."""
    caption = "µs, mean(std): the digits in brackets are the standard deviation in units of the last digits; first call: the very " \
        "first after MPI_Init, which connects the ranks"  # fmt: skip
    table = Table(title="published layout", caption=caption, title_justify="left", caption_justify="left")
    for name in ("image", "network", "reservation", "notes"):
        table.add_column(name)
    for name in ("ranks", "size", "first call", "first of this size", "later calls"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        words = [row.image, row.network, row.reservation or "–", row.notes or "–", str(row.ranks), size_text(row.size)]
        table.add_row(*map(escape, words), row.first_call or "–", row.first_of_size or "–", row.later_calls or "–")
    return table


def _print_changes(console: Console, record: Record, all_curves: Sequence[Curve]) -> None:
    names = differing(all_curves)
    found = [(curve, change) for curve in all_curves for change in changes(curve)]
    console.print()
    for curve, change in found:
        beside = thresholds(record, curve, [change])
        console.print(_line(curve.label(names), change, beside), soft_wrap=True, highlight=False)
    if not found and any(len(curve.points) >= LEAST_SIZES for curve in all_curves):
        console.print("no knee, and no size at which more bytes take less time", style="dim")
    for text in _unseen(record, all_curves, names):
        console.print(text, style="dim", soft_wrap=True, markup=False)


def _line(label: str, change: Change, beside: Sequence[Threshold]) -> str:
    names = [f"{each.name} = {each.value}" for each in beside if each.change]
    why = f"; there lies {', '.join(names)}" if names else ""
    return f"[note]{change.kind}:[/] {escape(label)}: {escape(change_text(change) + why)}"


def _unseen(record: Record, all_curves: Sequence[Curve], names: Sequence[str]) -> list[str]:
    """Limits of the call itself at which nothing was seen, each once, with the curves that it might have concerned."""
    quiet: dict[str, list[str]] = {}
    for curve in all_curves:
        for each in thresholds(record, curve, changes(curve)):
            if each.change is None and each.of_collective:
                quiet.setdefault(threshold_text(each), []).append(curve.label(names))
    return [f"the MPI tells a limit, {text}, at which nothing changed: {', '.join(who)}" for text, who in quiet.items()]

"""A comparison for people."""

from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents.params import text, varying
from ..statistics.units import Kind
from ..statistics.verdict import DIFFERENT, Verdict
from ..style.terminal import table
from .changes import Change
from .columns import COLUMNS
from .comparison import Comparison, Row

COLORS = {
    Verdict.SLOWER: "bad",
    Verdict.FASTER: "good",
    Verdict.NO_DIFFERENCE: "default",
    Verdict.NOT_ENOUGH: "note",
}

NOTES = {
    Kind.PAIRS: "both sides were started in turn: {} are compared pair by pair",
    Kind.RUNS: "runs of a side differ by more than their launches do: in {} runs were compared, not launches",
    Kind.BATCHES: "one side has a single launch in {}, so a difference may come from the launch itself; measure with --launches 10",
}
SMALL = (
    "in {count} of {total} timings B lies within {margin:.0%} of A, and yet 1 is outside of the 95 % interval: so it is by chance in {chance:.2g} of {total} "
    "where nothing changed, and two runs differ by some percent of themselves; a difference counts from {least:.0%} on, at {alpha:.0%} over all timings together"
)


def show(comparison: Comparison, console: Console, show_all: bool) -> None:
    """What differs in the machines first, then the cases and verdicts, then what changed around them."""
    first, second = comparison.sets
    console.print(f"A: {first.name}, {first.launches} launches\nB: {second.name}, {second.launches} launches", markup=False)
    if comparison.machines:
        console.print(changes_table("the machines; every ratio below counts that in", comparison.machines))
    rows = [row for row in comparison.rows if show_all or row.verdict in DIFFERENT]
    if rows:
        console.print(_table(comparison, rows))
    margins = {Verdict.NO_DIFFERENCE: f" ({comparison.rules.margin:.0%})"}
    counts = [f"[{COLORS[verdict]}]{comparison.count(verdict)} {verdict}{margins.get(verdict, '')}[/]" for verdict in Verdict]
    console.print(", ".join(counts), "" if show_all else "[dim](--all shows every case)[/]")
    _advise(comparison, console)
    _print_changes(comparison, console)


def _table(comparison: Comparison, rows: list[Row]) -> Table:
    parameters = varying([row.case for row in comparison.rows])
    shown = table("B against A, µs per exchange; ratio above 1: B is slower", right=parameters)
    shown.add_column("contender")
    for column in COLUMNS:
        shown.add_column(column.head, justify="right")
    shown.add_column("verdict")
    for row in rows:
        cells = [text(row.case.params.get(name)) for name in parameters]
        words = [*cells, row.contender, *(column.shown(row) for column in COLUMNS)]
        shown.add_row(*map(escape, words), f"[{COLORS[row.verdict]}]{row.verdict}[/]")
    return shown


def _advise(comparison: Comparison, console: Console) -> None:
    for note in notes(comparison):
        console.print(f"[note]note:[/] {note}", soft_wrap=True)
    if comparison.count(Verdict.NOT_ENOUGH) and not any(row.difference.single_launch for row in comparison.rows):
        console.print("[note]note:[/] where samples do not suffice, more launches help: --launches 10", soft_wrap=True)
    for side, records in zip("AB", comparison.sets, strict=True):
        for note in records.remarks:
            console.print(f"[note]note on {side}:[/] {escape(note)}", soft_wrap=True)
    for side, names in comparison.failed.items():
        if names:
            console.print(f"[bad]failed in {side}:[/] {escape(', '.join(names))}", soft_wrap=True)
    for side, names in comparison.only.items():
        if names:
            console.print(f"only in {side}: {', '.join(names)}", markup=False, soft_wrap=True)


def notes(comparison: Comparison) -> list[str]:
    """What was compared with what, where it was not launches as they are."""
    found = [row.difference for row in comparison.rows]
    kinds = {kind: sum(each.kind is kind for each in found) for kind in Kind}
    told = [NOTES[kind].format(f"{count} of {len(found)} timings") for kind, count in kinds.items() if count and kind in NOTES]
    stated = sum(bool(each.states) for each in found)
    if stated:
        told.append(f"the cores were now near and now far in {stated} of {len(found)} timings: near was compared with near, and far with far")
    small = [row for row in comparison.rows if row.verdict is Verdict.NO_DIFFERENCE and not _holds_one(row)]
    if small:
        told.append(SMALL.format(count=len(small), total=len(found), chance=0.05 * len(found), **asdict(comparison.rules)))
    if any(row.verdict in DIFFERENT for row in comparison.rows) and not kinds[Kind.PAIRS] + kinds[Kind.RUNS]:
        told.append("one side was measured after the other: a machine that drifted meanwhile looks like a change; `bench … --against` measures both in turn")
    return told


def _holds_one(row: Row) -> bool:
    low, high = row.difference.interval
    return low is None or high is None or low <= 1 <= high


def _print_changes(comparison: Comparison, console: Console) -> None:
    for kind, found in comparison.changes.kinds.items():
        console.print(changes_table(kind, found))
    if not comparison.changes.kinds:
        console.print("nothing that was recorded changed around the figures")


def changes_table(kind: str, found: list[Change]) -> Table:
    """Facts with their values on both sides."""
    shown = table(f"changed: {kind}", left=("", "A", "B"), overflow="fold")
    for change in found:
        shown.add_row(*(escape(value) if value else "[dim]–[/]" for value in (change.name, change.first, change.second)))
    return shown

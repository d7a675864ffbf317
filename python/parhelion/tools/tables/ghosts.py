"""The published form of `bench ghosts`: bytes per second and rank, with the time in brackets."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import Entry
from ..documents.params import in_order
from ..documents.published_form import bandwidths
from ..documents.results import results
from ..records import Record
from ..style.terminal import table
from ..style.words import product

CAPTION = ("bytes that reach a rank from others, per second, mean (least … most) over ranks, \\[time of a pull on the slowest rank], "
           "and of all ranks together; claimed: the same, counting every face row as the published figures did")  # fmt: skip


def print_ghosts(console: Console, record: Record) -> None:
    """One row per case and contender, then what the ranks' imports took."""
    for case in in_order(results(record.cases)):
        shown = _case_table(case.params, list(case.entries.values()))
        if shown.row_count:
            console.print(shown)
    _print_imports(console, record)


TITLE = ("ranks", "grid", "vdim", "element", "pattern", "rows_claimed", "rows_unique", "rows_moved")


def _shown(value: Any) -> str:
    """A parameter; a dash where the record does not tell it."""
    if value is None:
        return "–"
    return product(value) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else str(value)


def _case_table(params: dict[str, Any], entries: list[Entry]) -> Table:
    told = {name: _shown(params.get(name)) for name in TITLE}
    title = ("np {ranks} ({grid}), vdim {vdim} {element}, pattern {pattern}: {rows_claimed} face rows claimed, "
             "{rows_unique} unique, {rows_moved} move from other ranks").format(**told)  # fmt: skip
    figures = ("B/s per rank [time]", "least … most", "B/s total", "claimed B/s per rank")
    shown = table(title, CAPTION, left=["contender"], right=figures, no_wrap=True)
    for entry in entries:
        if entry.median:
            shown.add_row(*map(escape, (entry.contender, *bandwidths(params, entry))))
    return shown


def _print_imports(console: Console, record: Record) -> None:
    told = [launch.imports for launch in record.launches if launch.imports]
    if told:
        parts = ("interpreter_s", "numpy_s", "mpi4py_and_mpi_init_s", "parhelion_s")
        times = {part: [each[part]["max"] for each in told if part in each] for part in parts}
        worst = {part: max(seconds) * 1e3 for part, seconds in times.items() if seconds}
        console.print("imports, slowest rank: " + ", ".join(f"{part[:-2].replace('_', ' ')} {ms:.1f} ms" for part, ms in worst.items()))

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

CAPTION = ("bytes that reach a rank from others, per second, mean (least … most) over ranks, \\[time of a pull on the slowest rank], "
           "and of all ranks together; claimed: the same, counting every face row as the published figures did")  # fmt: skip


def print_ghosts(console: Console, record: Record) -> None:
    """One row per case and contender, then what the ranks' imports took."""
    for case in in_order(results(record.cases)):
        table = _case_table(case.params, list(case.entries.values()))
        if table.row_count:
            console.print(table)
    _print_imports(console, record)


def _case_table(params: dict[str, Any], entries: list[Entry]) -> Table:
    title = (f"np {params['ranks']} ({'×'.join(map(str, params['grid']))}), vdim {params['vdim']} {params['element']}, "
             f"pattern {params['pattern']}: {params['rows_claimed']:,} face rows claimed, {params['rows_unique']:,} unique, "
             f"{params['rows_moved']:,} move from other ranks")  # fmt: skip
    table = Table(title=title, caption=CAPTION, title_justify="left", caption_justify="left")
    for name in ("contender", "B/s per rank [time]", "least … most", "B/s total", "claimed B/s per rank"):
        table.add_column(name, justify="left" if name == "contender" else "right", no_wrap=True)
    for entry in entries:
        if entry.median:
            table.add_row(*map(escape, (entry.contender, *bandwidths(params, entry))))
    return table


def _print_imports(console: Console, record: Record) -> None:
    told = [launch.imports for launch in record.launches if launch.imports]
    if told:
        parts = ("interpreter_s", "numpy_s", "mpi4py_and_mpi_init_s", "parhelion_s")
        worst = {part: max(each[part]["max"] for each in told) * 1e3 for part in parts}
        console.print("imports, slowest rank: " + ", ".join(f"{part[:-2].replace('_', ' ')} {ms:.1f} ms" for part, ms in worst.items()))

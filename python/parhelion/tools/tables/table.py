"""The table that a measurement ends with."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult, Entry
from ..documents.params import in_order, varying
from ..documents.remarks import remarks
from ..documents.results import BASELINE, contenders, entries, mean_speed, of_contender, reasons
from ..documents.sweep.findings import sweep
from ..documents.wording import wording
from ..records import Record
from ..style.terminal import width
from ..style.words import microseconds, times_ends
from .matrix import print_matrix
from .short import case_table, short_table, speed, values
from .sweep import print_sweep

MOST_TABLES = 3


def cell_help(benchmark: str) -> str:
    """What a cell holds."""
    words = wording(benchmark)
    ratio = f"; ×: times as fast as {words.base}" if words.compared else ""
    return f"µs per {words.of}, median{ratio}; below: 95 % confidence intervals"


def print_results(console: Console, record: Record, cases: Sequence[CaseResult]) -> None:
    """One row per case, one column per contender; the geometric mean over cases at the end."""
    found = sweep(record, cases)
    if not cases:
        console.print("no case was finished")
    elif found.matrix:
        print_matrix(console, record.run.benchmark, found.matrix)
    else:
        for table in _fitting_tables(console, record.run.benchmark, cases):
            console.print(table)
        _print_troubles(console, cases)
    if any("size" in case.params for case in cases):
        print_sweep(console, found)
    for note in remarks(record, cases):
        console.print(f"[note]note:[/] {escape(note)}", soft_wrap=True)
    console.print(f"record: {escape(str(record.path))}", soft_wrap=True)


def results_table(benchmark: str, cases: Sequence[CaseResult], names: Sequence[str]) -> Table:
    """A table of the named contenders."""
    rows = in_order(cases)
    parameters = varying(cases)
    table = case_table(benchmark, cases, cell_help(benchmark))
    for name in names:
        table.add_column(escape(name), justify="right", header_style=_header_style(cases, name))
    for case in rows:
        table.add_row(*values(case, parameters), *(_cell(case, name) for name in names))
    means = [mean_speed(of_contender(rows, name)) for name in names]
    if any(mean for mean, _ in means) and len(rows) > 1:
        table.add_section()
        padding = [""] * (len(parameters) - 1)
        table.add_row("geomean", *padding, *(speed(*mean) for mean in means))
    return table


def _fitting_tables(console: Console, benchmark: str, cases: Sequence[CaseResult]) -> list[Table]:
    """All contenders in as few tables as the width allows, or a short one where that would be too many."""
    names = [name for name in contenders(cases) if not _skipped_everywhere(cases, name)] or contenders(cases)
    for tables in range(1, MOST_TABLES + 1):
        size = -(-len(names) // tables)
        parts = [results_table(benchmark, cases, names[first : first + size]) for first in range(0, len(names), size)]
        if all(width(console, part) <= console.width for part in parts):
            return parts
    return [short_table(benchmark, cases)]


def _skipped_everywhere(cases: Sequence[CaseResult], name: str) -> bool:
    """A line below the table says why."""
    return all(name not in case.entries or case.entries[name].skipped for case in cases)


def _header_style(cases: Sequence[CaseResult], name: str) -> str:
    roles = {entry.role for entry in entries(cases) if entry.contender == name}
    return "dim" if BASELINE in roles else "bold"


def _cell(case: CaseResult, name: str) -> str:
    entry = case.entries.get(name)
    if entry is None:
        return "–"
    if entry.failed:
        return "[bad]FAILED[/]"
    if entry.summary is None:
        return "[dim]skipped[/]"
    return f"{_median(case, entry)}\n[dim]{_interval(entry)} {times_ends(case.speed_interval(name))}[/]"


def _median(case: CaseResult, entry: Entry) -> str:
    speed = case.speed(entry.contender)
    median = microseconds(entry.median)
    shown = f"[good]{median}[/]" if case.fastest is entry else median
    return f"{shown} ×{speed:.2f}" if speed else shown


def _interval(entry: Entry) -> str:
    low, high = entry.summary.interval if entry.summary else (None, None)
    return f"{microseconds(low)}–{microseconds(high)}" if low is not None and high is not None else "too few samples"


def _print_troubles(console: Console, cases: Sequence[CaseResult]) -> None:
    """Each reason once, with the contenders that it met."""
    for (kind, why), names in reasons(cases).items():
        shown = "[bad]FAILED:[/]" if kind == "failed" else "[dim]skipped:[/]"
        console.print(f"{shown} {escape(', '.join(sorted(names)))}: {escape(why)}", soft_wrap=True)

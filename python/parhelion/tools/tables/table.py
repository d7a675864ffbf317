"""The table that a measurement ends with; on narrow terminals `auto` beside the fastest of each role."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult, Entry
from ..documents.params import constant, in_order, text, varying, wording
from ..documents.remarks import remarks
from ..documents.results import BASELINE, OWN, PEER, contenders, entries, mean_speed, of_contender, reasons
from ..documents.sweep.findings import sweep
from ..records import Record
from ..statistics import Interval
from ..statistics.shift import NO_INTERVAL
from ..style.terminal import table, width
from ..style.words import microseconds, times_ends
from .sweep import print_matrix, print_sweep

HELP = "µs per {}, median; ×: times as fast as {}; below: 95 % intervals and names; mean: geometric; a wider terminal shows every contender"
AUTO = "auto"
FASTEST = {"floor": "floor", OWN: "fastest own", BASELINE: "fastest by hand", PEER: "fastest peer"}


def short_table(benchmark: str, cases: Sequence[CaseResult]) -> Table:
    """One row per case: `auto`, and the fastest of each role that ran; 80 columns hold it."""
    words = wording(benchmark)
    parameters, rows = varying(cases), in_order(cases)
    roles = [role for role in FASTEST if any(case.of_role(role) for case in cases)]
    shown = case_table(benchmark, cases, HELP.format(words.of, words.base))
    shown.box, shown.padding, shown.pad_edge, shown.show_edge = box.SIMPLE_HEAD, (0, 0, 0, 1), False, False
    shown.add_column(AUTO, justify="right", no_wrap=True)
    for role in roles:
        shown.add_column(FASTEST[role], justify="right", overflow="fold")
    for case in rows:
        shown.add_row(*values(case, parameters), _auto(case), *(_fastest(case, role) for role in roles))
    means = dict.fromkeys(roles, "") | {OWN: speed(*mean_speed([(case, case.of_role(OWN)) for case in rows]))}
    shown.add_section()
    shown.add_row("mean", *[""] * (len(parameters) - 1), speed(*mean_speed(of_contender(rows, AUTO))), *(means[role] for role in roles))
    return shown


def _auto(case: CaseResult) -> str:
    entry = case.entries.get(AUTO)
    if entry is None or not entry.median:
        return "[bad]FAILED[/]" if entry and entry.failed else "–"
    return f"{microseconds(entry.median)} {speed(case.speed(AUTO), case.speed_interval(AUTO))}"


def _fastest(case: CaseResult, role: str) -> str:
    """Its time, and below it its name; how many times as fast where it is the library's or another one's."""
    entry = case.best(role)
    if entry is None:
        return "–"
    times = f" {speed(case.speed(entry.contender))}" if role in (OWN, PEER) else ""
    return f"{microseconds(entry.median)}{times}\n[dim]{escape(entry.contender)}[/]"


def case_table(benchmark: str, cases: Sequence[CaseResult], caption: str) -> Table:
    """A table of cases with columns for the parameters in which they differ; the others are in its title."""
    shared = ", ".join(f"{name} {value}" for name, value in constant(cases).items())
    return table(f"{benchmark}: {shared}", caption, right=varying(cases), no_wrap=True)


def values(case: CaseResult, parameters: Sequence[str]) -> list[str]:
    """The cells of those columns."""
    return [escape(text(case.params.get(name))) for name in parameters]


def speed(ratio: float | None, interval: Interval = NO_INTERVAL) -> str:
    """How many times as fast; below it the interval, where there is one."""
    if not ratio:
        return "–"
    return f"×{ratio:.2f}" + ("" if None in interval else f"\n[dim]{interval.low:.2f}–{interval.high:.2f}[/]")


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

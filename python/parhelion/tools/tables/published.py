"""Tables in published forms (`bench ghosts`, `gather`, `apps`), and messages by level of the machine (`--per-node`)."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..documents import Entry
from ..documents.document import by_level
from ..documents.params import in_order, text, varying
from ..documents.published_form import applications, bandwidths, scaled
from ..documents.results import CaseResult, contenders, results
from ..records import Record
from ..style.terminal import table, width
from ..style.words import product
from .table import values

OF_GHOSTS = ("bytes that reach a rank from others, per second, mean (least … most) over ranks, \\[time of a pull on the slowest rank], "
             "and of all ranks together; claimed: the same, counting every face row as the published figures did")  # fmt: skip
TITLE = ("ranks", "grid", "vdim", "element", "pattern", "rows_claimed", "rows_unique", "rows_moved")
OF_GATHER = "seconds per gather, median of verified contenders; wrong: values were; failed: crashed or took too long; –: did not run"
WORDS = 4  # columns that are no figures


def print_ghosts(console: Console, record: Record) -> None:
    """One row per case and contender, then what the ranks' imports took."""
    for case in in_order(results(record.cases)):
        shown = _case_table(case.params, list(case.entries.values()))
        if shown.row_count:
            console.print(shown)
    _print_imports(console, record)


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
    shown = table(title, OF_GHOSTS, left=["contender"], right=figures, no_wrap=True)
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


def has_published_form(cases: list[CaseResult]) -> bool:
    """One set alone is told by the other table, unless there are coarrays to put it beside."""
    return len({text(case.params.get("dataset")) for case in cases}) > 1 or any("/" in name for name in contenders(cases))


def print_gather(console: Console, record: Record) -> None:
    """As many tables as the width needs; contenders that ran in none of the cases are left out."""
    cases = in_order(results(record.cases))
    names = [name for name in contenders(cases) if any(case.entries[name].ran for case in cases if name in case.entries)]
    mpi = next((str(launch.flavor) for launch in record.launches if launch.flavor), "–")
    while names:
        part = next(names[:size] for size in range(len(names), 0, -1) if size == 1 or width(console, _gather_table(cases, names[:size], mpi)) <= console.width)
        names = names[len(part) :]
        console.print(_gather_table(cases, part, mpi, None if names else OF_GATHER))


def _gather_table(cases: list[CaseResult], names: list[str], mpi: str, caption: str | None = None) -> Table:
    shown = table("published form", caption, left=["toolchain\nvariant\nMPI"], right=[_head(name, mpi) for name in names], no_wrap=True)
    for case in cases:
        shown.add_row(_set_name(case), *(_gather_seconds(case, name) for name in names))
    return shown


def _head(name: str, mpi: str) -> str:
    return name.replace("/", "\n") if "/" in name else f"C++\n{name}\n{mpi}"


def _set_name(case: CaseResult) -> str:
    element, components = case.params.get("element"), case.params.get("components")
    kind = "" if (element, components) == ("int32", 1) else f" {element}×{components}"
    return text(case.params.get("dataset")) + kind


def _gather_seconds(case: CaseResult, name: str) -> str:
    shown = scaled(case.entries.get(name), 1)
    return f"[good]{shown}[/]" if case.fastest and case.fastest.contender == name else shown


def print_applications(console: Console, record: Record) -> None:
    """A row per application and contender."""
    form = applications(results(record.cases))
    if form is None:
        return
    shown = table("what exchanges take", escape(form.caption), left=form.head[:WORDS], right=form.head[WORDS:])
    for row in form.rows:
        shown.add_row(*map(escape, row))
    console.print(shown)


ORDER = ("own_rank", "pu", "core", "l2", "l3", "numa", "pack", "node", "other_node", "busiest_node")  # from the inside out
CAPTION = ("messages / bytes of all ranks in one exchange, one message per pair of neighbors as the exchange owes them; own rank: copies; "
           "busiest node: what leaves it")  # fmt: skip


def print_levels(console: Console, record: Record) -> None:
    """A row per case and contender that told; nothing where none did."""
    cases = in_order(results(record.cases))
    found = [(case, entry.contender, told) for case in cases for entry in case.entries.values() if (told := by_level(entry))]
    if not found:
        return
    told_of = {name for _, _, told in found for name, sums in told.items() if any(sums.values())}
    levels, parameters = [name for name in ORDER if name in told_of], varying(cases)
    shown = table("messages by level", CAPTION, left=[*parameters, "contender"], right=[name.replace("_", " ") for name in levels])
    for case, contender, told in found:
        shown.add_row(*values(case, parameters), escape(contender), *(_cell(told.get(name, {})) for name in levels))
    console.print(shown)


def _cell(told: dict[str, int]) -> str:
    return f"{told['messages']:,} / {told['bytes']:,}" if any(told.values()) else "–"

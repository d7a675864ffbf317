"""The published form of `bench gather`: a row per data set, a column per toolchain × variant × MPI, seconds per gather."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ..documents.params import in_order, text
from ..documents.published_form import scaled
from ..documents.results import CaseResult, contenders, results
from ..records import Record
from ..style.terminal import table, width

CAPTION = "seconds per gather, median of verified contenders; wrong: values were; failed: crashed or took too long; –: did not run"


def has_published_form(cases: list[CaseResult]) -> bool:
    """One set alone is told by the other table, unless there are coarrays to put it beside."""
    return len({text(case.params.get("dataset")) for case in cases}) > 1 or any("/" in name for name in contenders(cases))


def print_gather(console: Console, record: Record) -> None:
    """As many tables as the width needs; contenders that ran in none of the cases are left out."""
    cases = in_order(results(record.cases))
    names = [name for name in contenders(cases) if any(case.entries[name].ran for case in cases if name in case.entries)]
    mpi = next((str(launch.flavor) for launch in record.launches if launch.flavor), "–")
    while names:
        part = next(names[:size] for size in range(len(names), 0, -1) if size == 1 or width(console, _table(cases, names[:size], mpi)) <= console.width)
        names = names[len(part) :]
        console.print(_table(cases, part, mpi, None if names else CAPTION))


def _table(cases: list[CaseResult], names: list[str], mpi: str, caption: str | None = None) -> Table:
    shown = table("published form", caption, left=["toolchain\nvariant\nMPI"], right=[_head(name, mpi) for name in names], no_wrap=True)
    for case in cases:
        shown.add_row(_set_name(case), *(_seconds(case, name) for name in names))
    return shown


def _head(name: str, mpi: str) -> str:
    return name.replace("/", "\n") if "/" in name else f"C++\n{name}\n{mpi}"


def _set_name(case: CaseResult) -> str:
    element, components = case.params.get("element"), case.params.get("components")
    kind = "" if (element, components) == ("int32", 1) else f" {element}×{components}"
    return text(case.params.get("dataset")) + kind


def _seconds(case: CaseResult, name: str) -> str:
    shown = scaled(case.entries.get(name), 1)
    return f"[good]{shown}[/]" if case.fastest and case.fastest.contender == name else shown

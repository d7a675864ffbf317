"""The table for narrow terminals: the best of the library beside the best hand-written baseline."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult, Entry
from ..documents.params import constant, in_order, text, varying
from ..documents.results import BASELINE, OWN, mean_speed, of_contender
from ..documents.wording import wording
from ..statistics import Interval
from ..statistics.interval import NO_INTERVAL
from ..style.terminal import table
from ..style.words import microseconds

HELP = "µs per {}, median; ×: times as fast as {}; a wider terminal shows every contender"


def short_table(benchmark: str, cases: Sequence[CaseResult]) -> Table:
    """One row per case: best own, best baseline, how many times as fast."""
    words = wording(benchmark)
    parameters, rows = varying(cases), in_order(cases)
    shown = case_table(benchmark, cases, HELP.format(words.of, words.base))
    for name in ("auto", "×", "best of the library", "×", "best baseline"):
        shown.add_column(name, justify="right")
    for case in rows:
        ours = [microseconds(case.entries["auto"].median) if "auto" in case.entries else "–", speed(case.speed("auto"), case.speed_interval("auto"))]
        shown.add_row(*values(case, parameters), *ours, _named(case.best(OWN)), speed(case.best_speed, case.best_speed_interval), _named(case.best(BASELINE)))
    auto, best = mean_speed(of_contender(rows, "auto")), mean_speed([(case, case.of_role(OWN)) for case in rows])
    shown.add_section()
    shown.add_row("geomean", *[""] * len(parameters), speed(*auto), "", speed(*best), "")
    return shown


def case_table(benchmark: str, cases: Sequence[CaseResult], caption: str) -> Table:
    """A table of cases with columns for the parameters in which they differ; the others are in its title."""
    shared = ", ".join(f"{name} {value}" for name, value in constant(cases).items())
    return table(f"{benchmark}: {shared}", caption, right=varying(cases), no_wrap=True)


def values(case: CaseResult, parameters: Sequence[str]) -> list[str]:
    """The cells of those columns."""
    return [escape(text(case.params.get(name))) for name in parameters]


def _named(entry: Entry | None) -> str:
    return f"{escape(entry.contender)} {microseconds(entry.median)}" if entry else "–"


def speed(ratio: float | None, interval: Interval = NO_INTERVAL) -> str:
    """How many times as fast; below it the interval, where there is one."""
    if not ratio:
        return "–"
    return f"×{ratio:.2f}" + ("" if None in interval else f"\n[dim]{interval.low:.2f}–{interval.high:.2f}[/]")

"""The table for narrow terminals: the best of the library beside the best hand-written baseline."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..documents import CaseResult, Entry
from ..documents.params import constant, in_order, text, varying
from ..documents.results import BASELINE
from ..documents.wording import wording
from ..statistics import geometric_mean
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
        auto = [microseconds(case.entries["auto"].median) if "auto" in case.entries else "–", speed(case.speed("auto"))]
        shown.add_row(*values(case, parameters), *auto, _named(case.best("own")), speed(_best_speed(case)), _named(case.best(BASELINE)))
    means = [geometric_mean(speeds) for speeds in ((case.speed("auto") for case in rows), map(_best_speed, rows))]
    shown.add_section()
    shown.add_row("geomean", *[""] * len(parameters), speed(means[0]), "", speed(means[1]), "")
    return shown


def case_table(benchmark: str, cases: Sequence[CaseResult], caption: str) -> Table:
    """A table of cases with columns for the parameters in which they differ; the others are in its title."""
    shared = ", ".join(f"{name} {value}" for name, value in constant(cases).items())
    return table(f"{benchmark}: {shared}", caption, right=varying(cases), no_wrap=True)


def values(case: CaseResult, parameters: Sequence[str]) -> list[str]:
    """The cells of those columns."""
    return [escape(text(case.params.get(name))) for name in parameters]


def _best_speed(case: CaseResult) -> float | None:
    own = case.best("own")
    return case.speed(own.contender) if own else None


def _named(entry: Entry | None) -> str:
    return f"{escape(entry.contender)} {microseconds(entry.median)}" if entry else "–"


def speed(ratio: float | None) -> str:
    """How many times as fast."""
    return f"×{ratio:.2f}" if ratio else "–"

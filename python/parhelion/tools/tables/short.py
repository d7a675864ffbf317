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
from ..style.words import microseconds

UNLIMITED = 10_000
HELP = "µs per {}, median; ×: times as fast as {}; a wider terminal shows every contender"


def short_table(benchmark: str, cases: Sequence[CaseResult]) -> Table:
    """One row per case: best own, best baseline, how many times as fast."""
    words = wording(benchmark)
    parameters, rows = varying(cases), in_order(cases)
    shared = ", ".join(f"{name} {value}" for name, value in constant(cases).items())
    table = Table(title=escape(f"{benchmark}: {shared}"), caption=HELP.format(words.of, words.base), title_justify="left", caption_justify="left")
    for name in parameters:
        table.add_column(escape(name), justify="right", no_wrap=True)
    for name in ("auto", "×", "best of the library", "×", "best baseline"):
        table.add_column(name, justify="right")
    for case in rows:
        own, baseline = case.best("own"), case.best(BASELINE)
        cells = [escape(text(case.params.get(name))) for name in parameters]
        auto = [microseconds(case.entries["auto"].median) if "auto" in case.entries else "–", _times(case.speed("auto"))]
        table.add_row(*cells, *auto, _named(own), _times(_best_speed(case)), _named(baseline))
    means = [geometric_mean(speeds) for speeds in ((case.speed("auto") for case in rows), map(_best_speed, rows))]
    table.add_section()
    table.add_row("geomean", *[""] * len(parameters), _times(means[0]), "", _times(means[1]), "")
    return table


def _best_speed(case: CaseResult) -> float | None:
    own = case.best("own")
    return case.speed(own.contender) if own else None


def _named(entry: Entry | None) -> str:
    return f"{escape(entry.contender)} {microseconds(entry.median)}" if entry else "–"


def _times(ratio: float | None) -> str:
    return f"×{ratio:.2f}" if ratio else "–"

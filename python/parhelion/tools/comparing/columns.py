"""Columns of a comparison, for the terminal and for Markdown; `document` has the same for scripts."""

from collections.abc import Callable
from dataclasses import dataclass

from ..style.words import microseconds, p_value, ratio, ratios, signed
from .comparison import Row


@dataclass(frozen=True)
class Column:
    """`shown` of a row under `head`; `long` is the head where there is room."""

    head: str
    shown: Callable[[Row], str]
    long: str = ""


COLUMNS = (
    Column("A", lambda row: microseconds(row.medians[0]), "A, µs"),
    Column("B", lambda row: microseconds(row.medians[1]), "B, µs"),
    Column("B / A", lambda row: ratio(row.difference.ratio)),
    Column("95 %", lambda row: ratios(row.difference.interval), "95 % interval"),
    Column("Cliff's δ", lambda row: signed(row.difference.cliffs_delta)),
    Column("p", lambda row: p_value(row.p_adjusted)),
)

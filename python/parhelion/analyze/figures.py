"""The figures of a timing, each with its name in documents of `--json` and its column in reports; what `statistics.summary` works out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .summary import Summary
from .words import microseconds

Of = Callable[[Summary], Any]


@dataclass(frozen=True)
class Figure:
    """`value` of a summary; `key` where documents have it, `head` and what is `shown` where the table of spreads has it."""

    value: Of
    key: str = ""
    head: str = ""
    shown: Callable[[Any], str] = str


FIGURES = (
    Figure(lambda of: of.count, head="samples"),
    Figure(lambda of: of.p5, "p5_s", "p5", microseconds),
    Figure(lambda of: of.median, "median_s", "median", microseconds),
    Figure(lambda of: list(of.interval), "ci95_s"),
    Figure(lambda of: of.p95, "p95_s", "p95", microseconds),
    Figure(lambda of: of.p99, "p99_s", "p99", microseconds),
    Figure(lambda of: of.mean, "mean_s"),
    Figure(lambda of: of.std, "std_s"),
    Figure(lambda of: of.mean_std_us, "mean_std_us", "mean(std)"),
)
COLUMNS = tuple(figure for figure in FIGURES if figure.head)


def told(summary: Summary | None) -> Mapping[str, Any]:
    """All of them for a document, in seconds; each None without a summary."""
    return {figure.key: summary and figure.value(summary) for figure in FIGURES if figure.key}

"""How a report writes numbers and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from ..records.params import text
from ..statistics import Interval
from ..statistics.numbers import duration, microseconds
from ..sweep.words import size_text
from .mapping import ranges
from .setup import setup_exchanges

def interval(ends: Interval | None) -> str:
    """A confidence interval in microseconds."""
    if ends is None or ends.low is None or ends.high is None:
        return "no interval: too few samples"
    return f"{microseconds(ends.low)}–{microseconds(ends.high)}"


def times(ratio: float | None) -> str:
    """How many times as fast."""
    return f"{ratio:.2f}×" if ratio else "–"


def ratio(value: float | None) -> str:
    """A ratio of B over A."""
    return f"{value:.3f}" if value else "–"


def ratios(ends: Interval) -> str:
    """The interval of a ratio."""
    return f"{ends.low:.3f}–{ends.high:.3f}" if ends.low is not None and ends.high is not None else "–"


def signed(value: float | None) -> str:
    """An effect size from -1 to 1."""
    return f"{value:+.2f}" if value is not None else "–"


def p_value(value: float | None) -> str:
    """A p value, small ones by their bound."""
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def pipes(value: Any) -> str:
    """A value inside a Markdown table: one line, nothing that Markdown or HTML would take for its own."""
    escaped = str(value).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(escaped.replace("`", "'").split())


def breaks(name: str) -> Markup:
    """A name that may be broken after its underscores."""
    return Markup("_<wbr>").join(str(name).split("_"))


filters: dict[str, Callable[..., Any]] = {
    "microseconds": microseconds,
    "duration": duration,
    "interval": interval,
    "times": times,
    "param": text,
    "pipes": pipes,
    "ratio": ratio,
    "ratios": ratios,
    "signed": signed,
    "p_value": p_value,
    "breaks": breaks,
    "size": size_text,
    "setup_exchanges": setup_exchanges,
    "ranges": ranges,
}

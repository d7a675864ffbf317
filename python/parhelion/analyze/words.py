"""Formatting of numbers."""

import math
from collections.abc import Iterable

UNITS = ("µs", "ms", "s")
BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
Ends = tuple[float | None, float | None]  # of an interval; `None` if unknown


def significant(value: float, digits: int = 3) -> str:
    """Format with `digits` significant digits, counted after rounding (9.999 is 10.0), or all integer digits; no exponent."""
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace(",", "\N{NO-BREAK SPACE}")  # SI thousands separator


def microseconds(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return "–"
    return significant(seconds * 1e6)


def duration(seconds: float | None) -> str:
    """Format a time in µs, ms or s, chosen by the rounded value."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    value, unit = seconds * 1e6, 0
    while unit < len(UNITS) - 1 and float(f"{abs(value):.2e}") >= 1000:
        value, unit = value / 1000, unit + 1
    return f"{significant(value)} {UNITS[unit]}"


def times(ratio: float | None) -> str:
    return f"{ratio:.2f}×" if ratio else "–"


def times_ends(ends: Ends) -> str:
    return "" if None in ends else f"({ends[0]:.2f}–{ends[1]:.2f})"


def ratio(value: float | None) -> str:
    return f"{value:.3f}" if value else "–"


def ratios(ends: Ends) -> str:
    return "–" if None in ends else "–".join(f"{end:.3f}" for end in ends)


def p_value(value: float | None) -> str:
    """Format a p value, or its bound if small."""
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def percent(share: float, digits: int = 1) -> str:
    return f"{share * 100:.{digits}f} %"


def size_text(size: int) -> str:
    for unit, factor in reversed(BYTES.items()):
        if unit and size >= factor and size % factor == 0:
            return f"{size // factor} {unit}iB"
    return f"{size} B"


def product(numbers: Iterable[object]) -> str:
    return "×".join(map(str, numbers))


def ranges(numbers: Iterable[int]) -> str:
    """Format 0, 1, 2, 3 and 8 as `0–3, 8`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("–".join(map(str, part)) for part in parts)


def pipes(value: object) -> str:
    """Escape a value for a one-line cell of a Markdown table."""
    escaped = str(value).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(escaped.replace("`", "'").split())


def first_words(message: str | None, most: int = 200) -> str:
    """Return the beginning of a message on one line, cut behind a sentence if possible."""
    text = " ".join((message or "they said nothing").split())
    if len(text) <= most:
        return text
    sentence = text[:most].rfind(". ")
    return text[: sentence + 1] if sentence > 0 else text[:most] + "…"

"""Writing figures for people."""

from __future__ import annotations

import math

UNITS = ("µs", "ms", "s")


def significant(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, or all before the point where these are more; never with an exponent.

    Digits are counted after rounding: 9.999 is 10.0.
    """
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace(",", "\N{NO-BREAK SPACE}")  # thousands as in SI


def microseconds(seconds: float | None, digits: int = 3) -> str:
    """Seconds as microseconds with `digits` significant digits."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    return significant(seconds * 1e6, digits)


def duration(seconds: float | None, digits: int = 3) -> str:
    """A time in the unit that suits what is left of it when it is rounded."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    value, unit = seconds * 1e6, 0
    while unit < len(UNITS) - 1 and float(f"{abs(value):.{digits - 1}e}") >= 1000:
        value, unit = value / 1000, unit + 1
    return f"{significant(value, digits)} {UNITS[unit]}"

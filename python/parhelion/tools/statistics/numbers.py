"""Writing times for people."""

from __future__ import annotations

import math


def microseconds(seconds: float | None, digits: int = 3) -> str:
    """Seconds as microseconds with `digits` significant digits, never with an exponent."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    value = seconds * 1e6
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else digits - 1
    return f"{value:,.{max(decimals, 0)}f}".replace(",", "\N{NO-BREAK SPACE}")  # thousands as in SI

"""Changes in words."""

from __future__ import annotations

from ...style.words import size_text
from .changes import KNEE, Change
from .thresholds import Threshold

BEND = 1.25


def change_text(change: Change) -> str:
    """What was seen between two sizes."""
    where = f"from {size_text(change.below)} to {size_text(change.above)}"
    if change.kind == KNEE and change.against:
        than = f"{change.against:.2f} times what the sizes below let expect{_slope(change)}"
        return f"{where} the time goes up {change.growth:.2f} times, {than}" if change.growth >= 1 else \
            f"{where} the time falls to {change.growth:.2f} of itself, {than}"  # fmt: skip
    return f"{where} the time falls to {change.growth:.2f} of itself: more bytes in less time"


def _slope(change: Change) -> str:
    """Said where the line bends rather than jumps."""
    if change.ns_per_byte is None or not 1 / BEND < (change.against or 0) < BEND:
        return ""
    below, above = change.ns_per_byte
    return f"; a byte costs {above:.2g} ns from there, {below:.2g} ns before"


def threshold_text(threshold: Threshold) -> str:
    """A limit with its name."""
    return f"{threshold.name} = {threshold.value}"

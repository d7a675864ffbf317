"""Whole numbers in user input."""

import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")


def whole_number(text: str, low: int, high: int) -> int:
    """Parse `text` as a whole number from `low` to `high`. ValueError names the fault.

    Unlike `int` and `isdigit`, takes ASCII digits only: no other scripts, underscores, spaces or superscripts.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{shortened(text)} is not a whole number from {low} to {high}")
    number = int(text)
    if not low <= number <= high:
        raise ValueError(f"{text} is not a number from {low} to {high}")
    return number


def shortened(text: str, most: int = 60) -> str:
    """Quote user input for a message."""
    shown = repr(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"

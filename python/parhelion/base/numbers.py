"""Whole numbers in text that users give."""

import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")


def whole_number(text: str, low: int, high: int) -> int:
    """The number that `text` writes in ASCII digits, from `low` to `high`; ValueError says what is wrong with it.

    Python's own `int` also takes digits of other scripts, underscores and spaces, and `isdigit` takes superscripts.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{shortened(text)} is not a whole number from {low} to {high}")
    number = int(text)
    if not low <= number <= high:
        raise ValueError(f"{text} is not a number from {low} to {high}")
    return number


def shortened(text: str, most: int = 60) -> str:
    """What a user wrote, in quotes, fit for a message of one line."""
    shown = repr(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"

"""Nested values as flat names and values."""

import re
from typing import Any

import msgspec

Facts = list[tuple[str, str]]
LONG_LIST = 40
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_|$)")  # UCX_TLS, OMPI_MCA_btl, PATH


def flatten(value: Any, prefix: str = "") -> Facts:
    """`{"cpu": {"model": "X"}}` as `("cpu model", "X")`; what is unknown or empty is left out."""
    if isinstance(value, dict):
        return [fact for key, each in value.items() for fact in flatten(each, f"{prefix} {_word(key)}".strip())]
    if value is None or value in ([], ""):
        return []
    return [(prefix, _text(value))]


def _word(key: Any) -> str:
    """A key as words, unless it is the name of a variable, which people want to find as it is written."""
    return str(key) if VARIABLE.match(str(key)) else str(key).replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        shown = value[:LONG_LIST]
        return "\n".join(shown) + (f"\n… and {len(value) - LONG_LIST} more" if len(value) > LONG_LIST else "")
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

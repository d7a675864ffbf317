"""The forms in which arguments may be given. All of it is local."""

import operator
from collections.abc import Iterable
from typing import Any

Sides = tuple[tuple[int, int], ...]

MOST_DIMENSIONS = 4


def integer(value: Any, name: str, bits: int = 32) -> int:
    """`value` as an int. TypeError for anything that is not a whole number, ValueError when it is too large."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}: pass a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}: pass a whole number") from None
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError(f"{name} is {number}, which does not fit into {bits} bits: pass a smaller number")
    return number


def sequence(value: Any, name: str) -> list[Any]:
    """`value` as a list. TypeError for what is no sequence."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}: pass one value per dimension")
    return list(value)


def integers(value: Any, name: str, bits: int = 32) -> list[int]:
    return [integer(item, name, bits) for item in sequence(value, name)]


def extents_of(value: Any) -> list[int]:
    """Cells per dimension; one number is a domain of one dimension."""
    extents = [value] if hasattr(value, "__index__") else sequence(value, "extents")
    if not 1 <= len(extents) <= MOST_DIMENSIONS:
        raise ValueError(f"extents has {len(extents)} dimensions: pass 1 to {MOST_DIMENSIONS}, cells in each")
    return [integer(extent, "an extent", 64) for extent in extents]


def per_dimension(value: Any, dimensions: int, name: str) -> list[Any]:
    """`value` as one item per dimension. ValueError when their number is wrong."""
    items = sequence(value, name)
    if len(items) != dimensions:
        raise ValueError(f"{name} has {len(items)} items and the domain {dimensions} dimensions: pass one per dimension")
    return items


def halo_sides(halo: Any, dimensions: int) -> Sides:
    """((lower, upper), …) from one width, one per dimension, or a pair for the sides of each."""
    if hasattr(halo, "__index__") or isinstance(halo, bool):
        width = integer(halo, "halo")
        return ((width, width),) * dimensions
    return tuple(_both_sides(item) for item in per_dimension(halo, dimensions, "halo"))


def _both_sides(item: Any) -> tuple[int, int]:
    if hasattr(item, "__index__"):
        width = integer(item, "halo")
        return width, width
    sides = integers(item, "halo")
    if len(sides) != 2:
        raise ValueError(f"halo has {len(sides)} widths in one dimension: pass one, or a pair for its lower and upper side")
    return sides[0], sides[1]


def periodicity(value: Any, dimensions: int) -> list[bool]:
    """One flag per dimension, from one for all or one each."""
    flags = [value] * dimensions if _is_flag(value) else per_dimension(value, dimensions, "periodic")
    for flag in flags:
        if not _is_flag(flag):
            raise TypeError(f"periodic is {flag!r}: pass True or False, or one of them per dimension")
    return [bool(flag) for flag in flags]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool" or (hasattr(value, "__index__") and value in (0, 1))


def choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """`value` if it is one of `choices`. TypeError when it is no text."""
    choices = list(choices)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: use {' or '.join(map(repr, choices))}")
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: use {' or '.join(map(repr, choices))}")
    return value


def transport_name(name: Any) -> str:
    """The name of a transport, or nothing where the environment or the library shall choose."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"transport is {name!r}: pass the name of one, see ph.transports()")
    return name or ""


def time_limit(timeout: Any) -> float:
    """Seconds to wait at most; 0 for no limit."""
    if timeout is None:
        return 0.0
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is {timeout!r}: pass seconds, or None")
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}: pass more than 0 seconds, or None for no limit")
    return float(timeout)

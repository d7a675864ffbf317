"""Conversion and checks of arguments. All functions are local."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from .. import _core

Sides = tuple[tuple[int, int], ...]
Stagger = int | Sequence[int]

MOST_DIMENSIONS = 4


def integer(value: Any, name: str, bits: int = 32) -> int:
    """`value` as an int. TypeError unless it is a whole number, ValueError if it exceeds `bits`."""
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
    """`value` as a list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}: pass one value per dimension")
    return list(value)


def integers(value: Any, name: str, bits: int = 32) -> list[int]:
    return [integer(item, name, bits) for item in sequence(value, name)]


def is_one(value: Any) -> bool:
    """Whether this is one whole number; an array, even of one number, is a sequence."""
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def extents_of(value: Any) -> list[int]:
    """Cells per dimension; one number means one dimension."""
    extents = [value] if is_one(value) else sequence(value, "extents")
    if not 1 <= len(extents) <= MOST_DIMENSIONS:
        raise ValueError(f"extents has {len(extents)} dimensions: pass 1 to {MOST_DIMENSIONS}, cells in each")
    return [integer(extent, "an extent", 64) for extent in extents]


def per_dimension(value: Any, dimensions: int, name: str) -> list[Any]:
    """`value` as a list of one item per dimension."""
    items = sequence(value, name)
    if len(items) != dimensions:
        raise ValueError(f"{name} has {len(items)} items, but the domain has {dimensions} dimensions: pass one per dimension")
    return items


def halo_sides(halo: Any, dimensions: int) -> Sides:
    """((lower, upper), …) from one width, one per dimension, or a pair per dimension."""
    if is_one(halo) or isinstance(halo, bool):
        width = integer(halo, "halo")
        return ((width, width),) * dimensions
    return tuple(_both_sides(item) for item in per_dimension(halo, dimensions, "halo"))


def padded(values: Iterable[Any], filler: Any = 0) -> list[Any]:
    """As C++'s arrays of all dimensions."""
    return [*values, *[filler] * MOST_DIMENSIONS][:MOST_DIMENSIONS]


def widths_of(sides: Sides) -> tuple[Any, ...]:
    """As C++'s HaloWidth."""
    return *map(padded, zip(*sides, strict=True)), len(sides)


def depth_of(depth: Any, array: Sides, domain: Sides) -> Sides:
    """Layers to exchange: by default the smaller of both halos. ValueError for more."""
    most = tuple((min(a[0], b[0]), min(a[1], b[1])) for a, b in zip(array, domain, strict=True))
    if depth is None:
        return most
    sides = halo_sides(depth, len(domain))
    for d, (side, here, there) in enumerate(zip(sides, array, domain, strict=True)):
        if min(side) < 0:
            raise ValueError(f"depth is {depth!r}: pass 0 or more layers")
        if side[0] > there[0] or side[1] > there[1]:
            raise ValueError(f"a depth of {side} in dimension {d} is beyond the domain's halo {there}: construct the domain with the "
                             "greatest depth that an array needs")
        if side[0] > here[0] or side[1] > here[1]:
            raise ValueError(f"a depth of {side} in dimension {d} is beyond the array's halo {here}: widen the array's halo")
    return sides


def stagger_of(stagger: Any, dimensions: int) -> list[int]:
    """1, 0 or -1 per dimension."""
    along = [stagger] * dimensions if is_one(stagger) else per_dimension(stagger, dimensions, "stagger")
    values = [integer(each, "stagger") for each in along]
    if any(each not in (-1, 0, 1) for each in values):
        raise ValueError(f"stagger is {stagger!r}: use 1 where an array has one more point than cells, 0 on cells, -1 for their upper faces")
    return values


def _both_sides(item: Any) -> tuple[int, int]:
    if is_one(item):
        width = integer(item, "halo")
        return width, width
    sides = integers(item, "halo")
    if len(sides) != 2:
        raise ValueError(f"halo has {len(sides)} widths in one dimension: pass one, or a pair for its lower and upper side")
    return sides[0], sides[1]


def periodicity(value: Any, dimensions: int) -> list[bool]:
    """One flag per dimension."""
    flags = [value] * dimensions if _is_flag(value) else per_dimension(value, dimensions, "periodic")
    for flag in flags:
        if not _is_flag(flag):
            raise TypeError(f"periodic is {flag!r}: pass True or False, or one of them per dimension")
    return [bool(flag) for flag in flags]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool" or (is_one(value) and value in (0, 1))


def choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Raise unless `value` is one of `choices`."""
    choices = list(choices)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: use {' or '.join(map(repr, choices))}")
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: use {' or '.join(map(repr, choices))}")
    return value


def exchange_options(transport: Any, timeout: Any, **flags: Any) -> _core.ExchangeOptions:
    """Options of an exchange; None leaves a choice to the environment or the library."""
    options = _core.ExchangeOptions()
    if transport is not None and not isinstance(transport, str):
        raise TypeError(f"transport is {transport!r}: pass a name from ph.transports()")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float))):
        raise TypeError(f"timeout is {timeout!r}: pass seconds, or None")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is {timeout}: pass more than 0 seconds, or None for no limit")
    options.transport, options.timeout_s = transport or "", float(timeout or 0)
    for name, flag in flags.items():
        setattr(options, name, bool(flag))
    return options

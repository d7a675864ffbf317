"""From what users pass to fields: pointers, strides, element types. Nothing is copied."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from .. import _core
from ..base.arguments import Sides, halo_sides
from ..domain.arrays import HaloArray

NAMED = {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """An array (a list of them for several blocks) told with the width of its halo.

    Needed only where the width does not follow from the array's shape: an array of another library whose halo differs
    between the sides of a dimension and from the domain's.

        exchange = ph.Exchange(domain, ph.Field(array, halo=((2, 1), (0, 0))))
    """

    arrays: Any
    halo: int | Sequence[int | tuple[int, int]] | None = None


def read_groups(patterns: "Sequence[_core.Pattern]", groups: Sequence[Sequence[Any]]) -> "list[list[Parts]]":
    """What was passed for each pattern, checked. Local. ValueError or TypeError for what cannot be exchanged."""
    of_group = [f" of group {number}" if len(groups) > 1 else "" for number in range(len(groups))]
    return [_read_arrays(*group) for group in zip(patterns, groups, of_group, strict=True)]


def _read_arrays(pattern: "_core.Pattern", entries: Sequence[Any], of_group: str) -> "list[Parts]":
    if not entries:
        raise ValueError(f"no arrays{of_group} were passed: pass those whose ghosts the exchange fills")
    read = _indexed_parts if pattern.dimensions == 0 else _cartesian_parts
    arrays = [read(pattern, entry, f"array {number}{of_group}") for number, entry in enumerate(entries)]
    for parts in arrays:
        parts.check()
    return arrays


def split_components(comm: "_core.Communicator", groups: "Sequence[Sequence[Parts]]") -> "list[list[list[Parts]]]":
    """Each array of each group as one or several fields. Collective: an array becomes as many fields on all ranks.

    How many, its strides tell, and those of ranks may differ; a rank without cells has none to tell.
    """
    arrays = list(chain(*groups))
    depths = [parts.depth for parts in arrays]
    if comm.largest([max(depths)], "Exchange")[0] > 0:
        comm.require_equal("the arrays", "their number", len(arrays), "pass as many arrays on every rank", "Exchange", 0)
        depths = comm.largest(depths, "Exchange")
    next_depth = iter(depths)
    return [[_split(parts, next(next_depth)) for parts in group] for group in groups]


Passed = list[tuple[np.ndarray, list[tuple[int, int]]]]


def passed_places(split: "Sequence[Sequence[Parts]]") -> list[Passed]:
    """Where the native arrays lie in those that were passed, each of which was split into some: (its number, bytes from the start to
    the first owned cell) of each."""
    entries, number = [], 0
    for fields in split:
        entry: Passed = [(callable_array(array, fields[0].name), []) for array in fields[0].passed]
        for field in fields:
            for position, array in enumerate(field.arrays):
                whole, places = entry[position if len(entry) > 1 else 0]
                places.append((number, _first_owned(array, field.halo) - _first_owned(whole, None)))
                number += 1
        entries.append(entry)
    return entries


def callable_array(value: Any, name: str) -> np.ndarray:
    """As `as_array`, but of elements that have a buffer, which times do not."""
    array: np.ndarray = as_array(value, name).view(np.ndarray)
    return array if _has_buffer(array) else array.view(f"V{array.dtype.itemsize}")


def _has_buffer(array: np.ndarray) -> bool:
    try:
        return array.data is not None
    except ValueError:
        return False


def as_array(value: Any, name: str) -> np.ndarray:
    """`value` as a NumPy array on the same memory. TypeError when that cannot be had, ValueError when it is read-only."""
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, name)
    else:
        array = _from_buffer(value, name)
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds Python objects, which cannot be sent: use numbers or structures of numbers")
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only, and the exchange writes its ghosts: pass a writable array")
    if array.size > 0 and any(stride == 0 and extent > 1 for stride, extent in zip(array.strides, array.shape, strict=True)):
        raise ValueError(f"{name} is broadcast: several of its cells are the same memory; pass a copy of it")
    return array


def _from_dlpack(value: Any, name: str) -> np.ndarray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(
            f"{name}, a {type(value).__name__}, cannot be seen by NumPy ({error}): pass an array in host memory"
        ) from error


def _from_buffer(value: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} is a {type(value).__name__}: pass a NumPy array, an object with DLPack, or one with a buffer"
        ) from error


def element_name(dtype: np.dtype) -> str:
    """Name of the element in C++; whatever is no native number is opaque bytes."""
    return dtype.name if dtype.isnative and dtype.name in NAMED else f"bytes{dtype.itemsize}"


@dataclass(frozen=True)
class Parts:
    """The arrays of one field: one per block, or owned cells and ghosts; component axes behind those of the domain.

    `passed` are the arrays that the user has passed: these, or a single one that holds owned cells and ghosts.
    """

    passed: list[np.ndarray]
    arrays: list[np.ndarray]
    dimensions: int
    halo: Sides | None
    name: str

    def check(self) -> None:
        """ValueError when the arrays differ in dtype or components, or have none."""
        if len({(array.dtype, array.shape[self.dimensions :]) for array in self.arrays}) > 1:
            raise ValueError(f"the parts of {self.name} differ in dtype or components: make them equal")
        if 0 in self.components:
            raise ValueError(f"{self.name} has no components (shape {self.arrays[0].shape}): pass at least 1")

    @property
    def components(self) -> tuple[int, ...]:
        """Extents of the component axes."""
        return self.arrays[0].shape[self.dimensions :]

    @cached_property
    def depth(self) -> int:
        """How many of the component axes, first to last, are to be split off, so that the others are as good as one axis."""
        axes = [list(zip(array.shape, array.strides, strict=True))[self.dimensions :] for array in self.arrays if array.size > 0]
        return next(depth for depth in range(len(self.components) + 1) if all(_joint(each[depth:]) for each in axes))

    def native(self) -> "_core.Field":
        field = _core.Field(element_name(self.arrays[0].dtype), math.prod(self.components), self.halo is None)
        if self.halo is not None:
            field.set_halo([lower for lower, _ in self.halo], [upper for _, upper in self.halo])
        for array in self.arrays:
            inner = zip(array.shape[self.dimensions :], array.strides[self.dimensions :], strict=True)
            strides = [stride for extent, stride in inner if extent > 1]
            field.add_block(_first_owned(array, self.halo), array.strides[: self.dimensions], strides[-1] if strides else 0)
        return field


def _split(parts: Parts, depth: int) -> list[Parts]:
    """A field for each component along the first `depth` component axes."""
    before: tuple[Any, ...] = (slice(None),) * parts.dimensions
    return [replace(parts, arrays=[array[(*before, *index)] for array in parts.arrays])
            for index in np.ndindex(parts.components[:depth])]  # fmt: skip


def _joint(axes: list[tuple[int, int]]) -> bool:
    """Whether axes (extent, stride) lie in memory as one axis in C order would."""
    longer = [axis for axis in axes if axis[0] > 1]
    return all(outer == extent * inner for (_, outer), (extent, inner) in pairwise(longer))


def _first_owned(array: np.ndarray, halo: Sides | None) -> int:
    start: int = array.__array_interface__["data"][0]
    if halo is None:
        return start
    return start + sum(lower * stride for (lower, _), stride in zip(halo, array.strides, strict=False))


def _cartesian_parts(pattern: "_core.Pattern", entry: Any, name: str) -> Parts:
    told = entry if isinstance(entry, Field) else Field(entry)
    given = told.arrays if isinstance(told.arrays, (list, tuple)) else [told.arrays]
    blocks = [[stop - start for start, stop in zip(*box, strict=True)] for box in pattern.blocks]
    if len(given) != len(blocks):
        raise ValueError(
            f"{name} has {len(given)} parts and this rank {len(blocks)} blocks: pass a list with one array per block, "
            "and several fields as several arguments"
        )
    arrays = [as_array(part, name) for part in given]
    halos = {_find_halo(pattern, array, owned, told.halo, name) for array, owned in zip(arrays, blocks, strict=True)}
    if len(halos) > 1:
        raise ValueError(f"the parts of {name} have different halos: make them equal")
    return Parts(arrays, arrays, pattern.dimensions, halos.pop(), name)


def _find_halo(pattern: "_core.Pattern", array: np.ndarray, owned: list[int], told: Any, name: str) -> Sides:
    """The halo that was told, that the array knows, or that its shape leaves no doubt about."""
    dimensions = pattern.dimensions
    if array.ndim < dimensions:
        raise ValueError(
            f"{name} has shape {array.shape} and the domain {dimensions} dimensions: pass an array with all of them"
        )
    known = array.halo if isinstance(array, HaloArray) else None
    if told is not None:
        sides = halo_sides(told, dimensions)
    elif known is not None and len(known) == dimensions:
        sides = known
    else:
        sides = tuple(_infer(array.shape[d] - owned[d], pattern.halo[d]) for d in range(dimensions))
    if array.shape[:dimensions] != _extents(owned, sides) or (told is None and _lost_halo(array, sides, pattern)):
        raise ValueError(
            f"{name} has shape {array.shape}, and a block of {tuple(owned)} owned cells with halo {pattern.halo} needs "
            f"{_extents(owned, pattern.halo)}: make it with domain.zeros, or tell a narrower halo, also that there is none, with "
            "ph.Field(array, halo=…)"
        )
    return sides


def _lost_halo(array: np.ndarray, sides: Sides, pattern: "_core.Pattern") -> bool:
    """Whether an array has no halo in a dimension in which this domain has one and its own had none to leave out."""
    if not isinstance(array, HaloArray) or array.domain is None or array.halo != sides:
        return False
    widths = zip(sides, pattern.halo, array.domain.halo, strict=True)
    return any(sum(mine) == 0 and sum(here) > 0 and sum(there) == 0 for mine, here, there in widths)


def _extents(owned: Sequence[int], sides: Sides) -> tuple[int, ...]:
    return tuple(extent + lower + upper for extent, (lower, upper) in zip(owned, sides, strict=True))


def _infer(extra: int, widest: tuple[int, int]) -> tuple[int, int]:
    """Where the domain has one width on both sides, a narrower array has, too.

    An array without any halo may as well be one of owned cells, into which nothing would move: that has to be told.
    """
    if widest[0] == widest[1] and extra % 2 == 0 and 0 < extra < sum(widest):
        return extra // 2, extra // 2
    return widest


def _indexed_parts(pattern: "_core.Pattern", entry: Any, name: str) -> Parts:
    if isinstance(entry, Field):
        raise TypeError(f"{name} is told with a halo, which indexed domains do not have: pass the array itself")
    if isinstance(entry, (tuple, list)):
        pair = _two_arrays(pattern, entry, name)
        return Parts(pair, pair, 1, None, name)
    array, cells = as_array(entry, name).view(np.ndarray), pattern.owned + pattern.ghosts
    if array.ndim < 1 or len(array) != cells:
        raise ValueError(
            f"{name} has shape {array.shape} and this rank {pattern.owned} owned cells and {pattern.ghosts} ghosts: "
            f"make the first axis {cells} long, or pass a pair (owned, ghosts)"
        )
    return Parts([array], [array[: pattern.owned], array[pattern.owned :]], 1, None, name)


def _two_arrays(pattern: "_core.Pattern", entry: Any, name: str) -> list[np.ndarray]:
    if len(entry) != 2:
        raise ValueError(f"{name} has {len(entry)} parts: pass one array, or a pair of owned cells and ghosts")
    arrays = [as_array(part, f"{what} of {name}") for part, what in zip(entry, ("owned", "ghosts"), strict=True)]
    for array, cells, what in zip(arrays, (pattern.owned, pattern.ghosts), ("owned cells", "ghosts"), strict=True):
        if array.ndim < 1 or len(array) != cells:
            raise ValueError(
                f"the {what} of {name} have shape {array.shape} and this rank has {cells} {what}: "
                f"make the first axis {cells} long"
            )
    return arrays

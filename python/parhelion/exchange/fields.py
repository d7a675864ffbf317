"""From what users pass to fields: pointers, strides, element types. All of it is local and copies nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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


def make_fields(pattern: "_core.Pattern", entries: Sequence[Any]) -> "tuple[list[_core.Field], list[np.ndarray]]":
    """The native fields, and the NumPy arrays whose memory they point to."""
    if not entries:
        raise ValueError("no arrays were passed: pass those whose ghosts the exchange fills")
    read = _indexed_parts if pattern.dimensions == 0 else _cartesian_parts
    fields, kept = [], []
    for number, entry in enumerate(entries):
        parts = read(pattern, entry, f"array {number}")
        fields += [part.native() for part in _split(parts)]
        kept += parts.arrays
    return fields, kept


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
class _Parts:
    """The arrays of one field: one per block, or owned cells and ghosts; component axes behind those of the domain."""

    arrays: list[np.ndarray]
    dimensions: int
    halo: Sides | None
    name: str

    def components(self) -> tuple[int, ...]:
        """Extents of the component axes. ValueError when the arrays differ in them or in dtype."""
        kinds = {(array.dtype, array.shape[self.dimensions :]) for array in self.arrays}
        if len(kinds) > 1:
            raise ValueError(f"the parts of {self.name} differ in dtype or components: make them equal")
        shape = next(iter(kinds))[1]
        if 0 in shape:
            raise ValueError(f"{self.name} has no components (shape {self.arrays[0].shape}): pass at least 1")
        return shape

    def component_stride(self) -> int | None:
        """The one distance between components in C order; None when there is none."""
        telling = [array for array in self.arrays if array.size > 0] or self.arrays[:1]
        strides = {_joint_stride(array.shape, array.strides, self.dimensions) for array in telling}
        return strides.pop() if len(strides) == 1 else None

    def native(self) -> "_core.Field":
        count, stride = math.prod(self.components()), self.component_stride()
        if stride is None:
            raise ValueError(
                f"the components of the parts of {self.name} lie at different distances: use C order, or one array per component"
            )
        field = _core.Field(element_name(self.arrays[0].dtype), count, stride, self.halo is None)
        if self.halo is not None:
            field.set_halo([lower for lower, _ in self.halo], [upper for _, upper in self.halo])
        for array in self.arrays:
            field.add_block(_first_owned(array, self.halo), array.strides[: self.dimensions])
        return field


def _split(parts: _Parts) -> list[_Parts]:
    """Several fields where the component axes of a tensor cannot be seen as one."""
    shape = parts.components()
    if len(shape) < 2 or parts.component_stride() is not None:
        return [parts]
    before: tuple[Any, ...] = (slice(None),) * parts.dimensions
    pieces = [replace(parts, arrays=[array[(*before, i)] for array in parts.arrays]) for i in range(shape[0])]
    return [field for piece in pieces for field in _split(piece)]


def _joint_stride(shape: tuple[int, ...], strides: tuple[int, ...], dimensions: int) -> int | None:
    axes = [axis for axis in zip(shape[dimensions:], strides[dimensions:], strict=True) if axis[0] > 1]
    for (_, outer), (extent, inner) in pairwise(axes):
        if outer != extent * inner:
            return None
    return axes[-1][1] if axes else 0


def _first_owned(array: np.ndarray, halo: Sides | None) -> int:
    start: int = array.__array_interface__["data"][0]
    if halo is None:
        return start
    return start + sum(lower * stride for (lower, _), stride in zip(halo, array.strides, strict=False))


def _cartesian_parts(pattern: "_core.Pattern", entry: Any, name: str) -> _Parts:
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
    return _Parts(arrays, pattern.dimensions, halos.pop(), name)


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
    if array.shape[:dimensions] != _extents(owned, sides):
        raise ValueError(
            f"{name} has shape {array.shape}, and a block of {tuple(owned)} owned cells with halo {pattern.halo} needs "
            f"{_extents(owned, pattern.halo)}: make it with domain.zeros, or tell a narrower halo with ph.Field(array, halo=…)"
        )
    return sides


def _extents(owned: Sequence[int], sides: Sides) -> tuple[int, ...]:
    return tuple(extent + lower + upper for extent, (lower, upper) in zip(owned, sides, strict=True))


def _infer(extra: int, widest: tuple[int, int]) -> tuple[int, int]:
    """Where the domain has one width on both sides, a narrower array has, too."""
    if extra != sum(widest) and widest[0] == widest[1] and extra % 2 == 0 and 0 <= extra < sum(widest):
        return extra // 2, extra // 2
    return widest


def _indexed_parts(pattern: "_core.Pattern", entry: Any, name: str) -> _Parts:
    if isinstance(entry, Field):
        raise TypeError(f"{name} is told with a halo, which indexed domains do not have: pass the array itself")
    if isinstance(entry, (tuple, list)):
        return _Parts(_two_arrays(pattern, entry, name), 1, None, name)
    array, cells = as_array(entry, name).view(np.ndarray), pattern.owned + pattern.ghosts
    if array.ndim < 1 or len(array) != cells:
        raise ValueError(
            f"{name} has shape {array.shape} and this rank {pattern.owned} owned cells and {pattern.ghosts} ghosts: "
            f"make the first axis {cells} long, or pass a pair (owned, ghosts)"
        )
    return _Parts([array[: pattern.owned], array[pattern.owned :]], 1, None, name)


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

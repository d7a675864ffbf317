"""From what users pass to fields: pointers, strides, element types. All of it is local and copies nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arguments import Sides, halo_sides
from .arrays import HaloArray

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
    make = _indexed_field if pattern.dimensions == 0 else _cartesian_field
    fields, kept = [], []
    for number, entry in enumerate(entries):
        field, arrays = make(pattern, entry, f"array {number}")
        fields.append(field)
        kept += arrays
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
    if any(stride == 0 and extent > 1 for stride, extent in zip(array.strides, array.shape, strict=True)):
        raise ValueError(f"{name} is broadcast: several of its cells are the same memory; pass a copy of it")
    return array


def _from_dlpack(value: Any, name: str) -> np.ndarray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name}, a {type(value).__name__}, cannot be seen by NumPy ({error}): pass an array in host memory") from error


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
class _Components:
    """The axes after those of the domain, seen as one."""

    count: int
    stride: int


def _components(array: np.ndarray, dimensions: int, name: str) -> _Components:
    shape, strides = array.shape[dimensions:], array.strides[dimensions:]
    axes = [(extent, stride) for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    if any(extent == 0 for extent in shape):
        raise ValueError(f"{name} has no components (shape {array.shape}): pass at least 1")
    for (_, outer), (extent, inner) in zip(axes, axes[1:], strict=False):
        if outer != extent * inner:
            raise ValueError(f"the component axes {shape} of {name} do not lie at one distance: pass them in C order, or one array per component")
    count = 1
    for extent, _ in axes:
        count *= extent
    return _Components(count, axes[-1][1] if axes else array.itemsize)


def _start(arrays: list[np.ndarray], dimensions: int, indexed: bool, name: str) -> "_core.Field":
    """A field without blocks. All arrays of a field are of one kind."""
    kinds = {(array.dtype, _components(array, dimensions, name)) for array in arrays if array.size > 0}
    if len({(array.dtype, array.shape[dimensions:]) for array in arrays}) > 1:
        raise ValueError(f"the parts of {name} differ in dtype or components: make them equal")
    if len(kinds) > 1:
        raise ValueError(f"the components of the parts of {name} lie at different distances: use C order, or one array per component")
    components = next(iter(kinds))[1] if kinds else _components(arrays[0], dimensions, name)
    return _core.Field(element_name(arrays[0].dtype), components.count, components.stride, indexed)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _cartesian_field(pattern: "_core.Pattern", entry: Any, name: str) -> "tuple[_core.Field, list[np.ndarray]]":
    told = entry if isinstance(entry, Field) else Field(entry)
    parts = told.arrays if isinstance(told.arrays, (list, tuple)) else [told.arrays]
    blocks = [[stop - start for start, stop in zip(*box, strict=True)] for box in pattern.blocks]
    if len(parts) != len(blocks):
        raise ValueError(f"{name} has {len(parts)} parts and this rank {len(blocks)} blocks: pass a list with one array per block")
    arrays = [as_array(part, name) for part in parts]
    sides = [_find_halo(pattern, array, owned, told.halo, name) for array, owned in zip(arrays, blocks, strict=True)]
    if len(set(sides)) > 1:
        raise ValueError(f"the parts of {name} have different halos: make them equal")
    field = _start(arrays, pattern.dimensions, False, name)
    field.set_halo([lower for lower, _ in sides[0]], [upper for _, upper in sides[0]])
    for array in arrays:
        strides = array.strides[: pattern.dimensions]
        offset = sum(lower * stride for (lower, _), stride in zip(sides[0], strides, strict=True))
        field.add_block(_address(array) + offset, strides)
    return field, arrays


def _find_halo(pattern: "_core.Pattern", array: np.ndarray, owned: list[int], told: Any, name: str) -> Sides:
    """The halo that was told, that the array knows, or that its shape leaves no doubt about."""
    dimensions = pattern.dimensions
    if array.ndim < dimensions:
        raise ValueError(f"{name} has shape {array.shape} and the domain {dimensions} dimensions: pass an array with all of them")
    place = array._place if isinstance(array, HaloArray) else None
    if told is not None:
        sides = halo_sides(told, dimensions)
    elif place is not None and place.halo is not None and len(place.halo) == dimensions:
        sides = place.halo
    else:
        sides = tuple(_infer(array.shape[d] - owned[d], pattern.halo[d]) for d in range(dimensions))
    needed = tuple(extent + lower + upper for extent, (lower, upper) in zip(owned, sides, strict=True))
    if array.shape[:dimensions] != needed:
        widest = tuple(extent + lower + upper for extent, (lower, upper) in zip(owned, pattern.halo, strict=True))
        raise ValueError(
            f"{name} has shape {array.shape}, and a block of {tuple(owned)} owned cells with halo {pattern.halo} needs "
            f"{widest}: make it with domain.zeros, or tell a narrower halo with ph.Field(array, halo=…)"
        )
    return sides


def _infer(extra: int, widest: tuple[int, int]) -> tuple[int, int]:
    """Where the domain has one width on both sides, a narrower array has, too."""
    if extra != sum(widest) and widest[0] == widest[1] and extra % 2 == 0 and 0 <= extra < sum(widest):
        return extra // 2, extra // 2
    return widest


def _indexed_field(pattern: "_core.Pattern", entry: Any, name: str) -> "tuple[_core.Field, list[np.ndarray]]":
    if isinstance(entry, Field):
        raise TypeError(f"{name} is told with a halo, which indexed domains do not have: pass the array itself")
    if isinstance(entry, (tuple, list)):
        owned, ghosts = _two_arrays(pattern, entry, name)
        arrays = [owned, ghosts]
    else:
        owned, ghosts = _one_array(pattern, as_array(entry, name), name)
        arrays = [owned]
    field = _start([owned, ghosts], 1, True, name)
    for array in (owned, ghosts):
        field.add_block(_address(array), array.strides[:1])
    return field, [*arrays, ghosts]


def _two_arrays(pattern: "_core.Pattern", entry: Any, name: str) -> list[np.ndarray]:
    if len(entry) != 2:
        raise ValueError(f"{name} has {len(entry)} parts: pass one array, or a pair of owned cells and ghosts")
    arrays = [as_array(part, f"{what} of {name}") for part, what in zip(entry, ("owned", "ghosts"), strict=True)]
    for array, cells, what in zip(arrays, (pattern.owned, pattern.ghosts), ("owned cells", "ghosts"), strict=True):
        if array.ndim < 1 or len(array) != cells:
            raise ValueError(f"the {what} of {name} have shape {array.shape} and this rank has {cells} {what}: make the first axis {cells} long")
    return arrays


def _one_array(pattern: "_core.Pattern", array: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    cells = pattern.owned + pattern.ghosts
    if array.ndim < 1 or len(array) != cells:
        raise ValueError(
            f"{name} has shape {array.shape} and this rank {pattern.owned} owned cells and {pattern.ghosts} ghosts: "
            f"make the first axis {cells} long, or pass a pair (owned, ghosts)"
        )
    plain = array.view(np.ndarray)
    return plain[: pattern.owned], plain[pattern.owned :]

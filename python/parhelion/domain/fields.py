"""Conversion of user arrays to native fields, without copies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from .. import _core
from ..base.arguments import Sides, depth_of, halo_sides, integer, padded, stagger_of, widths_of
from .arrays import HaloArray
from .cartesian import CartesianDomain


@dataclass(frozen=True)
class Field:
    """An array, or a list with one per block, with properties that its shape does not show.

    `halo`: the array's own widths, where they differ between sides or from the domain's. `stagger`: 1 in dimensions with values on points (one
    value more on every rank), -1 on upper faces of cells. `depth`: layers that exchanges fill, if fewer than the halo. `sign=-1`: values change
    sign beyond a fold. `vector`, a number from 1, and `along`: the array is that vector's component along an axis; seams rotate vectors.

        exchange = ph.Exchange(domain, ph.Field(array, halo=((2, 1), (0, 0))), ph.Field(faces, stagger=(1, 0), depth=1))
    """

    arrays: Any
    halo: int | Sequence[int | tuple[int, int]] | None = None
    stagger: int | Sequence[int] | None = None
    depth: int | Sequence[int | tuple[int, int]] | None = None
    sign: int = 1
    vector: int = 0
    along: int = 0


@dataclass(frozen=True)
class Grid:
    """Geometry of a Cartesian domain or pattern."""

    held: list[list[int]]  # extents of this rank's blocks, without halo
    halo: Sides
    stagger: tuple[int, ...]
    lowest: list[tuple[bool, ...]]  # blocks at lower ends whose boundary layers their rank owns
    owns_ends: bool = False
    for_points: bool = False  # from a pattern: arrays must specify their stagger

    @property
    def dimensions(self) -> int:
        return len(self.halo)

    @classmethod
    def of_domain(cls, domain: CartesianDomain) -> "Grid":
        owns = domain.boundary == "owned"
        lowest = [tuple(owns and at == 0 and not periodic for at, periodic in zip(place, domain.periodic)) for *_, place in domain._native.blocks]
        held = [[part.stop - part.start for part in block] for block in domain._held]
        return cls(held, domain.halo, domain.stagger, lowest, owns)

    @classmethod
    def of_pattern(cls, pattern: "_core.Pattern") -> "Grid":
        none = (0,) * pattern.dimensions
        (lower, upper, _), [stagger], ends = pattern.halo, pattern.stagger, pattern.ends
        # Without the next block's shared points.
        depth = tuple((low, high - max(more, 0)) for low, high, more, _ in zip(lower, upper, stagger, none))
        held = [[stop - start for start, stop, _ in zip(*box, none)] for box in pattern.blocks]
        return cls(held, depth, none, [(False,) * len(none)] * len(held), False, any(stagger) or any(ends[0]) or any(ends[1]))


def read_groups(
    sources: "Sequence[CartesianDomain | _core.Pattern]", groups: Sequence[Sequence[Any]], only_read: int | None = None
) -> "list[list[Parts]]":
    """Check and convert the arrays for each domain or pattern; those of group `only_read` may be read-only. Local."""
    of_group = [f" of group {number}" if len(groups) > 1 else "" for number in range(len(groups))]
    read = [_read_arrays(*group) for group in zip(sources, groups, of_group, strict=True)]
    for number, group in enumerate(read):
        for parts in group if number != only_read else ():
            for array in parts.passed:
                _require_writable(array, parts.name)
    return read


def _read_arrays(source: "CartesianDomain | _core.Pattern", entries: Sequence[Any], of_group: str) -> "list[Parts]":
    if not entries:
        raise ValueError(f"no arrays{of_group} were passed: pass those whose ghosts the exchange fills")
    names = [f"array {number}{of_group}" for number in range(len(entries))]
    if not isinstance(source, CartesianDomain) and source.dimensions == 0:
        arrays = [_indexed_parts(source, entry, name) for entry, name in zip(entries, names, strict=True)]
    else:
        grid = Grid.of_domain(source) if isinstance(source, CartesianDomain) else Grid.of_pattern(source)
        arrays = [_cartesian_parts(grid, entry, name) for entry, name in zip(entries, names, strict=True)]
    for parts in arrays:
        parts.check()
        for array in parts.passed:
            if (stream := getattr(array, "stream", None)) is not None and array.size > 0:
                _core.await_stream(stream, _first_owned(array, None))
    return arrays


def split_components(comm: "_core.Communicator", groups: "Sequence[Sequence[Parts]]", timeout_s: float = 0) -> "list[list[list[Parts]]]":
    """Split each array into one or several fields. Collective: ranks agree on their number.

    Strides determine the number, and may differ between ranks; a rank without cells has none.
    """
    arrays = list(chain(*groups))
    depths = [parts.depth for parts in arrays]
    call = "Exchange", timeout_s
    if comm.largest(*call, [max(depths)])[0] > 0:
        comm.require_equal(*call, "the arrays", "their number", len(arrays), "pass the same number of arrays on every rank")
        depths = comm.largest(*call, depths)
    next_depth = iter(depths)
    split = [[split_field(parts, next(next_depth)) for parts in group] for group in groups]
    # If an array becomes several fields, each belongs to its own vector.
    numbers: dict[tuple[int, int], int] = {}
    return [
        [
            [replace(field, vector=numbers.setdefault((field.vector, i), len(numbers) + 1)) if field.vector else field
             for i, field in enumerate(fields)]
            for fields in group
        ]
        for group in split
    ]


def _turned(seam: Any) -> set[int]:
    """The axes that a seam lies in, reverses or permutes."""
    return {seam.start[0], seam.end[0], *seam.backward, *(axis for axis, other in enumerate(seam.axes or ()) if axis != other)}


def components_of(source: Any, vectors: Any, passed: Sequence[Any] = ()) -> list[Field]:
    """Assign the vectors' components to the axes with seams, with numbers that no field in `passed` has."""
    first = 1 + max((each.vector for each in passed if isinstance(each, Field)), default=0)
    axes = sorted(set().union(*map(_turned, source.seams))) if isinstance(source, CartesianDomain) else []
    told = vectors if isinstance(vectors, list) else [vectors]
    for vector in told:
        if not isinstance(vector, tuple) or (axes and len(vector) != len(axes)):
            raise ValueError(
                f"vector has {len(vector) if isinstance(vector, tuple) else 1} arrays, but the domain's seams are in axes {axes}: pass a tuple with "
                "the component along each, or a list of such tuples"
            )
    return [
        replace(array if isinstance(array, Field) else Field(array), vector=number, along=axis)
        for number, vector in enumerate(told, first)
        for axis, array in zip(axes or range(len(vector)), vector, strict=True)
    ]


Passed = list[tuple[np.ndarray, list[tuple[int, int]]]]


def passed_places(split: "Sequence[Sequence[Parts]]") -> list[Passed]:
    """(array number, byte offset of the first owned cell) of each native field."""
    entries, number = [], 0
    for fields in split:
        entry: Passed = [(callable_array(array, fields[0].name), []) for array in fields[0].passed]
        for field in fields:
            for position, array in enumerate(field.arrays):
                whole, places = entry[position if len(entry) > 1 else 0]
                places.append((number, _first_owned(array, field.layers(position)) - _first_owned(whole, None)))
                number += 1
        entries.append(entry)
    return entries


def callable_array(value: Any, name: str, on_device: bool = False) -> np.ndarray:
    """Like `as_array` or, on the device, `any_array`, for C++; elements without a buffer format, such as datetimes, become bytes."""
    seen = as_array(any_array(value, name) if on_device else value, name)
    array: Any = seen.view(DeviceArray if on_device else np.ndarray)
    if not _has_buffer(array):
        array = array.view(f"V{array.dtype.itemsize}")
    if on_device:
        array.stream = getattr(seen, "stream", None)
    return array


def _has_buffer(array: np.ndarray) -> bool:
    try:
        return array.data is not None
    except ValueError:
        return False


def as_array(value: Any, name: str) -> np.ndarray:
    """View `value` as a NumPy array. TypeError if that needs a copy, ValueError if it is read-only."""
    array = _seen(value, name)
    _require_writable(array, name)
    return _exchangeable(array, name)


def _seen(value: Any, name: str) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    return _from_dlpack(value, name) if hasattr(value, "__dlpack__") else _from_buffer(value, name)


class DeviceArray(np.ndarray):
    """Layout of a device array for NumPy; the host must not access its values."""

    stream: int | None = None  # of pending work on it, as the CUDA Array Interface tells

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and dtype {self.dtype} on a device>"


def any_array(value: Any, name: str) -> np.ndarray:
    """Like `as_array`, also of read-only arrays; for a device array return a DeviceArray, which keeps it alive."""
    if isinstance(value, np.ndarray):
        return _exchangeable(value, name)
    if hasattr(value, "__cuda_array_interface__"):
        told = value.__cuda_array_interface__
        if told.get("mask") is not None:
            raise TypeError(f"{name} has a mask, which is not exchanged: pass the array without it")
        if told.get("stream") == 0:
            raise ValueError(f"{name} has stream 0, which the protocol forbids: use None for none, 1 for the default stream, 2 for the thread's")
    elif hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] in _DEVICES:
        shape, strides, kind, address = _core.device_array(value.__dlpack__(stream=-1))  # -1: no synchronization; exchanges order themselves by streams
        told = {"shape": tuple(shape), "strides": tuple(strides), "typestr": kind, "data": (address, False)}
    else:
        return _exchangeable(_seen(value, name), name)
    array = np.asarray(_Located(value, told)).view(DeviceArray)
    array.stream = told.get("stream")
    return _exchangeable(array, name)


_DEVICES = (2, 10, 13)  # DLPack device types: CUDA, ROCm, CUDA's managed memory


class _Located:
    """Layout of another library's array, which it keeps alive."""

    def __init__(self, value: Any, told: dict[str, Any]) -> None:
        self.value = value
        self.__array_interface__ = {"version": 3, "strides": None} | {key: told[key] for key in told if key in ("shape", "typestr", "data", "strides")}


def _require_writable(array: np.ndarray, name: str) -> None:
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only, and the call writes to it: pass a writable array")


def require_values(array: np.ndarray, name: str) -> None:
    """TypeError if the array holds objects or has a mask."""
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds Python objects, which cannot be sent: use numbers or structures of numbers")
    if isinstance(array, np.ma.MaskedArray) and array.mask is not np.ma.nomask:
        raise TypeError(f"{name} has a mask, which is not exchanged: pass the array without it")


def _exchangeable(array: np.ndarray, name: str) -> np.ndarray:
    require_values(array, name)
    if array.size > 0 and any(stride == 0 and extent > 1 for stride, extent in zip(array.strides, array.shape, strict=True)):
        raise ValueError(f"{name} is broadcast: several of its cells share memory; pass a copy")
    return array


def _from_dlpack(value: Any, name: str) -> np.ndarray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(
            f"{name}, a {type(value).__name__}, cannot be converted by NumPy ({error}): pass an array in host memory"
        ) from error


def _from_buffer(value: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} is a {type(value).__name__}: pass a NumPy array, an object with DLPack, or one with a buffer"
        ) from error


def element_name(dtype: np.dtype) -> str:
    """C++ name of the element type, or that of opaque bytes."""
    return dtype.name if dtype.isnative and dtype.name in _core.elements else f"bytes{dtype.itemsize}"


@dataclass(frozen=True)
class Parts:
    """Arrays of one field: one per block, or owned cells and ghosts; component axes last.

    `passed` holds the user's arrays: the same ones, or a single array of owned cells and ghosts.
    """

    passed: list[np.ndarray]
    arrays: list[np.ndarray]
    dimensions: int
    halo: Sides | None
    name: str
    depth_of_halo: Sides = ()
    stagger: tuple[int, ...] = ()
    owns_ends: bool = False
    lowest: Sequence[tuple[bool, ...]] = ()
    sign: int = 1
    vector: int = 0
    along: int = 0

    def layers(self, position: int) -> list[int] | None:
        """Layers per dimension before the first owned cell of array `position`."""
        if self.halo is None:
            return None
        ends = zip(self.halo, self.depth_of_halo, self.lowest[position], strict=True)
        return [array[0] - (depth[0] if owned else 0) for array, depth, owned in ends]

    def check(self) -> None:
        """Raise ValueError if the arrays do not match."""
        if len({(array.dtype, array.shape[self.dimensions :], isinstance(array, DeviceArray)) for array in self.arrays}) > 1:
            raise ValueError(f"the parts of {self.name} differ in dtype or components, or one is on a device: make them equal")
        if 0 in self.components:
            raise ValueError(f"{self.name} has no components (shape {self.arrays[0].shape}): pass at least 1")

    @property
    def on_device(self) -> bool:
        return isinstance(self.arrays[0], DeviceArray)

    @property
    def components(self) -> tuple[int, ...]:
        """Extents of the component axes."""
        return self.arrays[0].shape[self.dimensions :]

    @cached_property
    def depth(self) -> int:
        """Number of leading component axes to split off; the others are contiguous as one."""
        axes = [list(zip(array.shape, array.strides, strict=True))[self.dimensions :] for array in self.arrays if array.size > 0]
        return next(depth for depth in range(len(self.components) + 1) if all(_joint(each[depth:]) for each in axes))

    def native(self) -> "_core.Field":
        blocks = []
        for position, array in enumerate(self.arrays):
            inner = zip(array.shape[self.dimensions :], array.strides[self.dimensions :], strict=True)
            strides = [stride for extent, stride in inner if extent > 1]
            blocks.append((_first_owned(array, self.layers(position)), padded(array.strides[: self.dimensions]), strides[-1] if strides else 0))
        layers = None if self.halo is None else (
            widths_of(self.depth_of_halo), widths_of(self.halo), (padded(self.stagger),), self.owns_ends, self.sign, self.vector, self.along
        )
        return _core.Field(element_name(self.arrays[0].dtype), math.prod(self.components), self.on_device, blocks, layers)


def split_field(parts: Parts, depth: int) -> list[Parts]:
    before: tuple[Any, ...] = (slice(None),) * parts.dimensions
    return [replace(parts, arrays=[array[(*before, *index)] for array in parts.arrays])
            for index in np.ndindex(parts.components[:depth])]


def _joint(axes: list[tuple[int, int]]) -> bool:
    """Whether axes (extent, stride) are contiguous in C order."""
    longer = [axis for axis in axes if axis[0] > 1]
    return all(outer == extent * inner for (_, outer), (extent, inner) in pairwise(longer))


def _first_owned(array: np.ndarray, layers: list[int] | None) -> int:
    start: int = array.__array_interface__["data"][0]
    if layers is None:
        return start
    return start + sum(layer * stride for layer, stride in zip(layers, array.strides, strict=False))


def _cartesian_parts(grid: Grid, entry: Any, name: str) -> Parts:
    told = entry if isinstance(entry, Field) else Field(entry)
    given = told.arrays if isinstance(told.arrays, (list, tuple)) else [told.arrays]
    if len(given) != len(grid.held):
        raise ValueError(
            f"{name} has {len(given)} parts, but this rank has {len(grid.held)} blocks: pass a list with one array per block, "
            "and several fields as several arguments"
        )
    arrays = [any_array(part, name) for part in given]
    if grid.for_points:
        domain = arrays[0].domain if isinstance(arrays[0], HaloArray) else None
        if domain is None:
            raise ValueError(
                f"{name} does not state its points: make it with domain.zeros, or pass the domain instead of "
                "its pattern"
            )
        grid = Grid.of_domain(domain)
    stagger = _one([_find_stagger(grid, array, told) for array in arrays], name, "staggers")
    held = [[extent + max(more, 0) for extent, more in zip(block, stagger, strict=True)] for block in grid.held]
    halo = _one([_find_halo(grid, array, block, told.halo, name) for array, block in zip(arrays, held, strict=True)], name, "halos")
    depth = _find_depth(grid, arrays[0], halo, told.depth)
    total = tuple(mine + more for mine, more in zip(grid.stagger, stagger, strict=True))
    if integer(told.vector, "vector") not in range(1 << 15) or integer(told.along, "along") not in range(grid.dimensions):
        raise ValueError(
            f"{name} is component {told.along!r} of vector {told.vector!r}: number vectors from 1 and name an axis of the grid"
        )
    if told.sign not in (1, -1):
        raise ValueError(f"the sign of {name} is {told.sign!r}: use 1 for scalars, -1 for vector components that change sign beyond a fold")
    return Parts(arrays, arrays, grid.dimensions, halo, name, depth, total, grid.owns_ends, grid.lowest, int(told.sign), told.vector, told.along)


def _one(found: list[Any], name: str, what: str) -> Any:
    if len(set(found)) > 1:
        raise ValueError(f"the parts of {name} have different {what}: make them equal")
    return found[0]


def _known(array: np.ndarray, dimensions: int) -> HaloArray | None:
    if not isinstance(array, HaloArray) or array.halo is None or len(array.halo) != dimensions:
        return None
    return array


def _find_stagger(grid: Grid, array: np.ndarray, told: Field) -> tuple[int, ...]:
    if told.stagger is not None:
        return tuple(stagger_of(told.stagger, grid.dimensions))
    known = _known(array, grid.dimensions)
    if known is None or known.stagger is None:
        return (0,) * grid.dimensions
    return tuple(mine - here for mine, here in zip(known.stagger, grid.stagger, strict=True))


def _find_depth(grid: Grid, array: np.ndarray, halo: Sides, told: Any) -> Sides:
    known = _known(array, grid.dimensions)
    if told is not None or known is None or known.depth is None:
        return depth_of(told, halo, grid.halo)
    return known.depth


def _find_halo(grid: Grid, array: np.ndarray, held: list[int], told: Any, name: str) -> Sides:
    dimensions = grid.dimensions
    if array.ndim < dimensions:
        raise ValueError(
            f"{name} has shape {array.shape}, but the domain has {dimensions} dimensions: pass an array with all of them"
        )
    known = _known(array, dimensions)
    sides: Sides
    if told is not None:
        sides = halo_sides(told, dimensions)
    elif known is not None and known.halo is not None:
        sides = known.halo
    else:
        sides = tuple(_infer(array.shape[d] - held[d], grid.halo[d]) for d in range(dimensions))
    if array.shape[:dimensions] != _extents(held, sides) or (told is None and _lost_halo(array, sides, grid)):
        raise ValueError(
            f"{name} has shape {array.shape}, and a block of {tuple(held)} owned cells with halo {grid.halo} needs "
            f"{_extents(held, grid.halo)}: make it with domain.zeros, or give its halo (0 for none) with "
            "ph.Field(array, halo=…)"
        )
    return sides


def _lost_halo(array: np.ndarray, sides: Sides, grid: Grid) -> bool:
    """Whether the array lacks a halo where this domain has one and its own domain none."""
    if not isinstance(array, HaloArray) or array.domain is None or array.halo != sides:
        return False
    widths = zip(sides, grid.halo, array.domain.halo, strict=True)
    return any(sum(mine) == 0 and sum(here) > 0 and sum(there) == 0 for mine, here, there in widths)


def _extents(owned: Sequence[int], sides: Sides) -> tuple[int, ...]:
    return tuple(extent + lower + upper for extent, (lower, upper) in zip(owned, sides, strict=True))


def _infer(extra: int, widest: tuple[int, int]) -> tuple[int, int]:
    """Infer a narrower halo: symmetric if the domain's is.

    An array without halo may hold owned cells only: the user must say so in a Field.
    """
    if widest[0] == widest[1] and extra % 2 == 0 and 0 < extra < sum(widest):
        return extra // 2, extra // 2
    return widest


def _indexed_parts(pattern: "_core.Pattern", entry: Any, name: str) -> Parts:
    if isinstance(entry, Field):
        raise TypeError(f"{name} has a halo, which indexed domains do not have: pass the array itself")
    if isinstance(entry, (tuple, list)):
        pair = _two_arrays(pattern, entry, name)
        return Parts(pair, pair, 1, None, name)
    array, cells = any_array(entry, name), pattern.owned + pattern.ghosts
    array = array if isinstance(array, DeviceArray) else array.view(np.ndarray)
    if array.ndim < 1 or len(array) != cells:
        raise ValueError(
            f"{name} has shape {array.shape}, but this rank has {pattern.owned} owned cells and {pattern.ghosts} ghosts: "
            f"make the first axis {cells} long, or pass a pair (owned, ghosts)"
        )
    return Parts([array], [array[: pattern.owned], array[pattern.owned :]], 1, None, name)


def _two_arrays(pattern: "_core.Pattern", entry: Any, name: str) -> list[np.ndarray]:
    if len(entry) != 2:
        raise ValueError(f"{name} has {len(entry)} parts: pass one array, or a pair of owned cells and ghosts")
    arrays = [any_array(part, f"{what} of {name}") for part, what in zip(entry, ("owned", "ghosts"), strict=True)]
    for array, cells, what in zip(arrays, (pattern.owned, pattern.ghosts), ("owned cells", "ghosts"), strict=True):
        if array.ndim < 1 or len(array) != cells:
            raise ValueError(
                f"the {what} of {name} have shape {array.shape}, but this rank has {cells} {what}: "
                f"make the first axis {cells} long"
            )
    return arrays

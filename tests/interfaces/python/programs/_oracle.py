"""What ghosts must hold, from a formula of global index and component; written without the library's help."""

import contextlib
import functools
import itertools
import math

import numpy as np

from parhelion import _core

DTYPES = [
    np.dtype(kind)
    for kind in (
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 bool float16 >f8 S5 M8[s]"
    ).split()
] + [np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", "S3")])]

LAYOUTS = ("plain", "gapped", "reversed", "shuffled")
POISON = 0xA5
CANARY = 64


class Sample:
    """An array inside of a larger piece of poisoned memory, and what that memory must hold afterwards."""

    node_shared = False  # some transports need memory that other ranks can map

    def __init__(self, spatial, components, dtype, order="C", layout="plain"):
        shape = tuple(spatial) + tuple(components)
        steps = [2 if layout == "gapped" and (axis < len(spatial) or len(components) == 1) else 1 for axis in range(len(shape))]
        outer = [max(1, extent * step) for extent, step in zip(shape, steps)]
        size = math.prod(outer) * dtype.itemsize + 2 * CANARY
        self.memory = _core.allocate_node_shared(size) if self.node_shared else np.empty(size, np.uint8)
        self.memory[:] = POISON
        axes = list(range(len(shape)))
        if layout == "shuffled" and len(components) < 2:
            axes = axes[1:] + axes[:1]
        whole = np.ndarray([outer[axis] for axis in axes], dtype, self.memory, CANARY, order=order).transpose(np.argsort(axes))
        self.view = whole[tuple(slice(0, extent * step, step) for extent, step in zip(shape, steps))]
        if layout == "reversed":
            self.view = self.view[(slice(None, None, -1),) * len(shape)]
        self.expected = None

    def expect(self):
        """From here on `self.expected` is what the array must become, beginning with what it holds now."""
        self.wanted = self.memory.copy()
        offset = self.view.__array_interface__["data"][0] - self.memory.__array_interface__["data"][0]
        self.expected = np.ndarray(self.view.shape, self.view.dtype, self.wanted, offset, self.view.strides)

    def check(self, what):
        if np.array_equal(self.memory, self.wanted):
            return
        wrong = np.argwhere(_bytes(self.view) != _bytes(self.expected))
        where = f"first at {wrong[0]}" if len(wrong) else "only outside of the array"
        raise AssertionError(f"{what}: {len(wrong)} bytes of the array are wrong, {where} (shape {self.view.shape})")


@contextlib.contextmanager
def memory_for(transport):
    """Samples made within lie in memory that this transport can use."""
    Sample.node_shared = "shared" in transport
    try:
        yield
    finally:
        Sample.node_shared = False


def _bytes(array):
    return np.ascontiguousarray(array).view(np.uint8) if array.ndim else array


def encode(ids, dtype):
    """A value of `dtype` for each id; neighbors differ in it."""
    if dtype.kind in "iu":
        return (ids % min(2**31 - 1, 113 if dtype.itemsize == 1 else 32749)).astype(dtype)
    if dtype.kind == "b":
        return (ids // 3 % 2).astype(bool)
    if dtype.kind == "f":
        return (ids % (2039 if dtype.itemsize == 2 else 1 << 24)).astype(dtype)
    if dtype.kind == "c":
        return ((ids % 65521) - 1j * (ids % 32749)).astype(dtype)
    raw = (ids[..., None] * 7 + 11 * np.arange(dtype.itemsize)) % 251
    return np.ascontiguousarray(raw.astype(np.uint8)).view(dtype)[..., 0]


def component_ids(cells, components, field):
    """One id per component of each cell."""
    if not components:
        return cells * 31 + field
    inner = np.arange(math.prod(components)).reshape(components)
    return (cells * 31 + field)[(...,) + (None,) * len(components)] + 7919 * inner


def grid_coordinates(domain, block, sides):
    """Per dimension the global coordinates of an array with halo `sides`, continued past the ends."""
    return [np.arange(part.start - lower, part.stop + upper) for part, (lower, upper) in zip(domain.blocks[block], sides)]


def along(axes):
    """Each axis shaped to broadcast with the others."""
    return [axis.reshape([-1 if d == e else 1 for e in range(len(axes))]) for d, axis in enumerate(axes)]


def grid_cells(domain, block, sides):
    """The global number of each cell, wrapped around periodic ends."""
    wrapped = [axis % max(1, extent) for axis, extent in zip(grid_coordinates(domain, block, sides), domain.extents)]
    number = np.zeros((1,) * domain.dimensions, np.int64)
    for axis, extent in zip(along(wrapped), domain.extents):
        number = number * extent + axis
    return np.broadcast_to(number, [len(axis) for axis in wrapped])


def ghosts_filled(domain, block, sides):
    """Which cells of the array an exchange fills."""
    owned, inside = domain.blocks[block], grid_coordinates(domain, block, sides)
    away = [(axis < part.start) | (axis >= part.stop) for axis, part in zip(inside, owned)]
    exists = [
        np.full(len(axis), True) if periodic else (axis >= 0) & (axis < extent)
        for axis, extent, periodic in zip(inside, domain.extents, domain.periodic)
    ]
    if any(part.start == part.stop for part in owned):
        return np.zeros([len(axis) for axis in inside], bool)
    outside = sum(mask.astype(int) for mask in along(away))
    possible = functools.reduce(np.logical_and, along(exists))
    return possible & (outside == 1 if domain.neighbors == "faces" else outside > 0)


def owned_part(domain, block, sides):
    return tuple(slice(lower, lower + part.stop - part.start) for part, (lower, _) in zip(domain.blocks[block], sides))


def grid_sample(domain, block, sides, dtype, components=(), order="C", layout="plain", field=0):
    """An array with owned cells filled, which expects its ghosts."""
    cells = grid_cells(domain, block, sides)
    sample = Sample(cells.shape, components, dtype, order, layout)
    values = encode(component_ids(cells, components, field), dtype)
    owned = owned_part(domain, block, sides)
    sample.view[owned] = values[owned]
    sample.expect()
    filled = ghosts_filled(domain, block, sides)
    sample.expected[filled] = values[filled]
    return sample


def index_sample(ids, cells, dtype, components=(), order="C", layout="plain", field=0):
    """An array along global `ids`, whose entries in the slice `cells` are filled and the others expected."""
    values = encode(component_ids(np.asarray(ids, np.int64), components, field), dtype)
    sample = Sample((len(ids),), components, dtype, order, layout)
    sample.view[cells] = values[cells]
    sample.expect()
    sample.expected[...] = values
    return sample


def combinations():
    """Order × components × layout."""
    return itertools.product("CF", ((), (1,), (3,), (2, 2)), LAYOUTS)

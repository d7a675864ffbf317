"""NumPy arrays with a halo, in node-shared memory."""

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from .. import _core
from ..base.arguments import choice, integers, is_one
from ..errors import ResourceError


@dataclass(frozen=True)
class Place:
    """Extents with halo, and owned cells, of an array in a domain."""

    domain: Any
    shape: tuple[int, ...]
    owned: tuple[slice, ...]
    halo: tuple[tuple[int, int], ...] | None = None
    ghosts: tuple[slice, ...] | None = None
    block: int = 0
    held: tuple[slice, ...] | None = None
    depth: tuple[tuple[int, int], ...] | None = None
    stagger: tuple[int, ...] | None = None


class HaloArray(np.ndarray):
    """A NumPy array that knows its owned cells and its ghosts.

    `domain.zeros` and the like allocate it in node-shared memory, which lives as long as any view of it. Copies and results of
    arithmetic of the same shape keep the halo information, in ordinary memory; other views lose it. Reductions return NumPy
    scalars. A pickled array keeps values and halo, in ordinary memory, without its domain.
    """

    _made: "tuple[Place, tuple[int, ...]] | None" = None  # place, and strides at allocation

    def __array_finalize__(self, source: Any) -> None:
        made = getattr(source, "_made", None)
        if made is None:
            return
        # Copies and results of arithmetic may have other strides; views with other strides hold other cells.
        place, strides = made
        self._made = (place, self.strides if self.base is None else strides)

    @property
    def _place(self) -> Place | None:
        """Place of this array, if still known. Computed at access: NumPy swaps a view's axes after `__array_finalize__`."""
        if self._made is None:
            return None
        place, strides = self._made
        dims = len(place.shape)
        known = self.shape[:dims] == place.shape and self.strides[:dims] == strides[:dims]
        return place if known else None

    @property
    def owned(self) -> np.ndarray:
        """Plain NumPy view of the cells that this rank owns, without the halo."""
        return self.view(np.ndarray)[self._known_place().owned]

    @property
    def held(self) -> np.ndarray:
        """Plain NumPy view of the array without its halo: `owned`, and in a staggered field the points behind the last cells.

        The next block owns those points, and an exchange overwrites them.
        """
        place = self._known_place()
        return self.view(np.ndarray)[place.owned if place.held is None else place.held]

    @property
    def ghosts(self) -> np.ndarray:
        """Plain view of an indexed domain's ghosts, in the order of its `ghosts`. AttributeError for a Cartesian array."""
        ghosts = self._known_place().ghosts
        if ghosts is None:
            raise AttributeError("the ghosts of a Cartesian array are not one view: index the array around `owned`")
        return self.view(np.ndarray)[ghosts]

    @property
    def domain(self) -> Any:
        """Domain of the array; None for a view that has lost its halo."""
        place = self._place
        return None if place is None else place.domain

    @property
    def halo(self) -> tuple[tuple[int, int], ...] | None:
        """((lower, upper), …) halo widths in memory; None for an indexed domain."""
        place = self._place
        return None if place is None else place.halo

    @property
    def depth(self) -> tuple[tuple[int, int], ...] | None:
        """((lower, upper), …) halo layers that exchanges fill; None for an indexed domain."""
        place = self._place
        return None if place is None else place.depth

    @property
    def stagger(self) -> tuple[int, ...] | None:
        """Stagger per dimension: 0 on cells, 1 or -1 on points; None for an indexed domain."""
        place = self._place
        return None if place is None else place.stagger

    @property
    def block(self) -> int:
        """Index of this rank's block that the array holds."""
        return self._known_place().block

    def _known_place(self) -> Place:
        if self._place is None:
            raise AttributeError("this view has no halo: take `owned` of the whole array first, then slice")
        return self._place

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return a NumPy scalar for a result without dimensions."""
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context)

    def _repr_html_(self) -> str:
        """Draw owned cells and ghosts in a notebook."""
        from .showing import html

        place = self._place
        return f"<pre>{escape(repr(self))}</pre>" if place is None else html(self, place)

    def __reduce_ex__(self, protocol: Any) -> Any:
        values, place = self.view(np.ndarray), self._place
        return values.__reduce_ex__(protocol) if place is None else (restored, (values, replace(place, domain=None)))


def restored(values: np.ndarray, place: Place) -> HaloArray:
    """Unpickle an array, without its domain."""
    array = values.view(HaloArray)
    array._made = (place, array.strides)
    return array


def make_array(place: Place, dtype: Any, components: Any, order: str, value: Any = None) -> HaloArray:
    """Allocate an array for `place` in node-shared memory. Local."""
    kind = element_type(dtype)
    shape = place.shape + component_shape(components)
    size = math.prod(shape) * kind.itemsize
    if size >= 1 << 62:
        raise ResourceError(f"an array of shape {shape} and dtype {kind} exceeds the memory of any machine: use more ranks")
    memory = _core.allocate_node_shared(size)
    layout: Any = choice(order, "order", "CF")
    array = np.ndarray.__new__(HaloArray, shape, kind, memory, order=layout)
    array._made = (place, array.strides)
    if value is not None:
        array.fill(value)
    return array


def element_type(dtype: Any) -> np.dtype:
    """`dtype` as NumPy's. TypeError if its values cannot be sent."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"dtype {kind} holds Python objects, which cannot be sent: use numbers or structures of numbers")
    if kind.itemsize == 0:
        raise TypeError(f"dtype {kind} has no size: give its length, such as 'S8'")
    return kind


def component_shape(components: Any) -> tuple[int, ...]:
    """Extents of the component axes."""
    if components is None:
        return ()
    counts = [components] if is_one(components) else components
    shape = tuple(integers(counts, "components"))
    if any(count < 1 for count in shape):
        raise ValueError(f"components is {components}: every axis needs at least 1")
    return shape

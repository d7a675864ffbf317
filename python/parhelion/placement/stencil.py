"""Stencil: between which points of the process grid messages travel, and how many bytes."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..base.numbers import shortened, whole_number
from .library import PlacementError, integers, long_integers

MOST_STEP = 2**20  # as in placement/limits.hpp


class CStencil(ctypes.Structure):
    """phl_stencil."""

    _fields_ = (("count", ctypes.c_int), ("offsets", ctypes.c_void_p), ("bytes", ctypes.c_void_p), ("extent", ctypes.c_void_p),
                ("halo", ctypes.c_int), ("bytes_per_cell", ctypes.c_int))


@dataclass(frozen=True)
class Stencil:
    """Directed edges from every grid point to `offsets`, with `bytes` each (1 if unknown).

    `with_halo` also sets cells per rank along each dimension, halo width and bytes per cell.
    """

    offsets: tuple[tuple[int, ...], ...]
    bytes: tuple[int, ...]
    cells: tuple[int, ...] = ()
    halo: int = 0
    bytes_per_cell: int = 0

    @classmethod
    def faces(cls, dimensions: int) -> Stencil:
        """The 2·d neighbors across faces."""
        return cls.of([step for step in cls.full(dimensions).offsets if sum(map(abs, step)) == 1])

    @classmethod
    def full(cls, dimensions: int) -> Stencil:
        """The 3^d − 1 neighbors across faces, edges and corners."""
        return cls.of([step for step in itertools.product((-1, 0, 1), repeat=dimensions) if any(step)])

    @classmethod
    def of(cls, offsets: Sequence[Sequence[int]]) -> Stencil:
        """Any offsets, one byte each."""
        steps = tuple(tuple(int(s) for s in offset) for offset in offsets)
        return cls(steps, (1,) * len(steps))

    @classmethod
    def parse(cls, text: str, dimensions: int) -> Stencil:
        """Parse ``faces``, ``full``, or offsets such as ``0,1;0,-1;2,0``."""
        if text in ("faces", "full"):
            return getattr(cls, text)(dimensions)
        try:
            offsets = [tuple(whole_number(step.strip(), -MOST_STEP, MOST_STEP) for step in part.split(","))
                       for part in text.split(";") if part.strip()]
        except ValueError as error:
            raise PlacementError(f"stencil offsets {shortened(text)}: write steps with commas and offsets with semicolons, "
                                 f"such as '0,1;0,-1': {error}") from None
        for offset in offsets:
            if len(offset) != dimensions:
                raise PlacementError(f"stencil offset {offset} has {len(offset)} steps, but the process grid has {dimensions} dimensions")
            if not any(offset):
                raise PlacementError(f"stencil offset {offset} leads to the point itself: leave it out")
        if not offsets:
            raise PlacementError("the stencil has no offset: give at least one, such as '1,0;-1,0'")
        return cls.of(offsets)

    def with_halo(self, cells: Sequence[int], halo: int, bytes_per_cell: int) -> Stencil:
        """The stencil with bytes from the cells of one rank and the halo width."""
        dimensions = len(self.offsets[0])
        if len(cells) != dimensions or min(cells) < 1:
            raise PlacementError(f"cells per rank {tuple(cells)}: give one number of at least 1 for each of the {dimensions} dimensions")
        sizes = [bytes_per_cell * math.prod(n if s == 0 else min(halo, n) for s, n in zip(offset, cells, strict=True)) for offset in self.offsets]
        return Stencil(self.offsets, tuple(sizes), tuple(cells), halo, bytes_per_cell)

    def for_c(self, cells: bool = True) -> Any:
        """C structure; `cells` lets the library compute which cells messages share."""
        offsets, sizes = integers(step for offset in self.offsets for step in offset), long_integers(self.bytes)
        extent = long_integers(self.cells) if cells and self.cells else None
        arrays = offsets, sizes, extent
        stencil = CStencil(len(self.offsets), *(array and ctypes.addressof(array) for array in arrays), int(self.halo), int(self.bytes_per_cell))
        stencil.arrays = arrays  # keeps them alive
        return ctypes.byref(stencil)

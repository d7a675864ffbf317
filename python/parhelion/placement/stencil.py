"""Which grid points exchange with which."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.numbers import shortened, whole_number
from .library import PlacementError, integers

MOST_STEP = 2**20  # most_step in placement/limits.hpp


@dataclass(frozen=True)
class Stencil:
    """Directed edges from every grid point to those at `offsets`, carrying `bytes` each (1 where nothing is known).

    `with_halo` also tells which cells these are: those of one rank along each dimension, halo width, bytes per cell.
    """

    offsets: tuple[tuple[int, ...], ...]
    bytes: tuple[int, ...]
    cells: tuple[int, ...] = ()
    halo: int = 0
    bytes_per_cell: int = 0

    @classmethod
    def faces(cls, dimensions: int) -> Stencil:
        """The 2·d neighbors across faces."""
        return cls.of([step for step in _around(dimensions) if sum(map(abs, step)) == 1])

    @classmethod
    def full(cls, dimensions: int) -> Stencil:
        """The 3^d − 1 neighbors across faces, edges and corners."""
        return cls.of(_around(dimensions))

    @classmethod
    def of(cls, offsets: Sequence[Sequence[int]]) -> Stencil:
        """Any list of offsets, one byte each."""
        steps = tuple(tuple(int(s) for s in offset) for offset in offsets)
        return cls(steps, (1,) * len(steps))

    @classmethod
    def parse(cls, text: str, dimensions: int) -> Stencil:
        """``faces``, ``full``, or offsets such as ``0,1;0,-1;2,0``."""
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
                raise PlacementError(f"stencil offset {offset} has {len(offset)} steps, but the process grid has "
                                     f"{dimensions} dimensions")
            if not any(offset):
                raise PlacementError(f"stencil offset {offset} leads to the point itself: leave it out")
        if not offsets:
            raise PlacementError("the stencil has no offset: give at least one, such as '1,0;-1,0'")
        return cls.of(offsets)

    def steps(self) -> ctypes.Array:
        """All offsets one after another, as the library takes them."""
        return integers(step for offset in self.offsets for step in offset)

    def with_halo(self, cells: Sequence[int], halo: int, bytes_per_cell: int) -> Stencil:
        """Bytes, and which cells they are, from the cells of one rank and the halo width."""
        dimensions = len(self.offsets[0])
        if len(cells) != dimensions or min(cells) < 1:
            raise PlacementError(f"cells per rank {tuple(cells)}: give one number of at least 1 for each of the {dimensions} dimensions")
        sizes = [bytes_per_cell * math.prod(n if s == 0 else min(halo, n) for s, n in zip(offset, cells, strict=True)) for offset in self.offsets]
        return Stencil(self.offsets, tuple(sizes), tuple(cells), halo, bytes_per_cell)


def _around(dimensions: int) -> list[tuple[int, ...]]:
    return [step for step in itertools.product((-1, 0, 1), repeat=dimensions) if any(step)]

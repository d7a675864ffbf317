"""Process grids with land: the places that get a rank, before launch."""

from __future__ import annotations

import ctypes
import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..base.masks import read_mask, wet_bytes
from .library import PlacementError, integers, long_integers, received
from .stencil import Stencil

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class LandGrid:
    """A process grid over the cells of a mask.

    `wet`: places with a rank, numbered with the last dimension fastest. `halo`: cells of the largest block's halo. `dropped`: share of the land
    that no rank owns. `tile_axis`: as of the domain. `fold`: the axis whose upper side is folded, and the axis that the fold mirrors.
    """

    cells: tuple[int, ...]
    wet: np.ndarray
    halo: int
    dropped: float
    tile_axis: int | None = None
    fold: tuple[int, int] | None = None

    @property
    def grid(self) -> tuple[int, ...]:
        """Places along each dimension."""
        return self.wet.shape

    @property
    def ranks(self) -> int:
        """Number of ranks that the grid needs."""
        return int(self.wet.sum())

    def edges(self, stencil: Stencil, periodic: Sequence[bool], halo: int, bytes_per_cell: int) -> list[dict[int, int]]:
        """Bytes from each rank to each other at that halo width, within tiles and across the fold, for `place_graph`."""
        if self.fold and periodic[self.fold[0]]:
            raise PlacementError(f"axis {self.fold[0]} is folded and periodic: leave one of the two out")
        ranks = np.full(self.grid, -1)
        ranks[self.wet] = np.arange(self.ranks)
        edges: list[dict[int, int]] = [{} for _ in range(self.ranks)]
        sizes = [np.diff(starts) for starts in _starts(self.cells, self.grid)]
        for step in within_tiles(stencil, self.tile_axis).offsets:
            there = np.roll(self.unfolded(ranks), [-s for s in step], tuple(range(ranks.ndim)))
            for axis, (s, wraps) in enumerate(zip(step, periodic, strict=True)):
                if s and not wraps:
                    np.moveaxis(there, axis, 0)[slice(-s, None) if s > 0 else slice(0, -s)] = -1
            there = there[tuple(map(slice, self.grid))]
            counts = functools.reduce(np.multiply.outer, [np.minimum(halo, size) if s else size for s, size in zip(step, sizes, strict=True)])
            meet = (ranks >= 0) & (there >= 0) & (there != ranks)
            for rank, other, count in zip(*(each[meet].tolist() for each in (ranks, there, counts)), strict=True):
                edges[rank][other] = edges[rank].get(other, 0) + count * bytes_per_cell
        return edges

    def unfolded(self, places: np.ndarray) -> np.ndarray:
        """Values of all places, and behind a folded side once more in their mirror image; blocks are taken as equal."""
        return np.concatenate([places, np.flip(places, self.fold)], self.fold[0]) if self.fold else places


def within_tiles(stencil: Stencil, tile_axis: int | None) -> Stencil:
    """The offsets within a tile; seams join tiles."""
    return stencil if tile_axis is None else Stencil.of([step for step in stencil.offsets if not step[tile_axis]])


def land_grid(
    mask: ArrayLike | str | os.PathLike[str], grid: Sequence[int], halo: int = 1, cells: Sequence[int] | None = None, tile_axis: int | None = None,
    fold: Sequence[int] | None = None,
) -> LandGrid:
    """A process grid of even blocks; only places with a wet cell (not 0 in `mask`, an array or a .npy file) get ranks.

    `cells`: extents of the grid, if the mask broadcasts to them. `tile_axis`: the axis that counts tiles, which has no halo. `fold`: the axis whose
    upper side is folded, and that which the fold mirrors (the one before it; of axis 0, axis 1). Local; reads the whole mask. Raises PlacementError.
    """
    wet, extents = _cells(mask, cells)
    halos = _halos(halo, len(extents), tile_axis)
    if len(grid) != len(extents) or any(not 1 <= parts <= extent for parts, extent in zip(grid, extents, strict=True)):
        raise PlacementError(f"the process grid {tuple(grid)} does not divide {extents} cells: give each dimension 1 place or more, and no more than cells")
    places, starts = wet, _starts(extents, grid)
    for axis, first in enumerate(starts):
        places = np.logical_or.reduceat(places, first[:-1], axis)
    sizes = functools.reduce(np.multiply.outer, [np.diff(first) for first in starts])
    land = wet.size - int(np.count_nonzero(wet))
    largest = [-(-extent // parts) for extent, parts in zip(extents, grid, strict=True)]
    surface = sum(2 * width * math.prod(largest) // size for width, size, parts in zip(halos, largest, grid, strict=True) if parts > 1)
    return LandGrid(extents, places, surface, float(sizes[~places].sum() / land) if land else 0.0, tile_axis, _fold(fold, len(extents), tile_axis))


def land_grids(
    mask: ArrayLike | str | os.PathLike[str], ranks: int, halo: int = 1, cells: Sequence[int] | None = None, most: int = 10,
    tile_axis: int | None = None, fold: Sequence[int] | None = None,
) -> list[LandGrid]:
    """Process grids with exactly `ranks` wet places, least halo first; `CartesianDomain` takes the first.

    As `land_grid`. If there is none, raises PlacementError that names the nearest numbers of ranks.
    """
    wet, extents = _cells(mask, cells)
    pointer = np.ascontiguousarray(wet).ctypes.data_as(ctypes.c_void_p)
    halos = integers(_halos(halo, len(extents), tile_axis))
    found = received(most * len(extents), "phl_grids_with_land", ranks, len(extents), long_integers(extents), pointer, halos, most)
    grids = np.array(found).reshape(most, -1)
    return [land_grid(wet, grid.tolist(), halo, tile_axis=tile_axis, fold=fold) for grid in grids if grid[0]]


def _cells(mask: ArrayLike | str | os.PathLike[str], cells: Sequence[int] | None) -> tuple[np.ndarray, tuple[int, ...]]:
    try:
        array = read_mask(mask)
        extents = tuple(cells or array.shape)
        if not 1 <= len(extents) <= 4 or min(extents) < 1:
            raise ValueError(f"the mask has the shape {array.shape}: give 1 to 4 dimensions of at least 1 cell")
        return np.broadcast_to(wet_bytes(array, extents), extents), extents
    except (OSError, ValueError, TypeError) as error:
        raise PlacementError(f"{mask}: {error}" if isinstance(mask, (str, os.PathLike)) else str(error)) from None


def _halos(halo: int, dimensions: int, tile_axis: int | None) -> list[int]:
    if tile_axis is not None and not 0 <= tile_axis < dimensions:
        raise PlacementError(f"axis {tile_axis} counts tiles, and the mask's grid has {dimensions} dimensions: name one from 0 on")
    return [0 if axis == tile_axis else halo for axis in range(dimensions)]


def _fold(fold: Sequence[int] | None, dimensions: int, tile_axis: int | None) -> tuple[int, int] | None:
    if not fold:
        return None
    axis, mirrored = fold if len(fold) > 1 else (fold[0], fold[0] - 1 if fold[0] else 1)
    if axis == mirrored or not {axis, mirrored} <= {*range(dimensions)} - {tile_axis}:
        raise PlacementError(f"axis {axis} is folded, which mirrors axis {mirrored}, of {dimensions} axes: name two axes of the cells")
    return axis, mirrored


def _starts(cells: Sequence[int], grid: Sequence[int]) -> list[np.ndarray]:
    """Starts of the blocks; the first ones take the remainder."""
    return [np.arange(parts + 1) * (extent // parts) + np.minimum(np.arange(parts + 1), extent % parts) for extent, parts in zip(cells, grid, strict=True)]

"""Rank numbers of grid points."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .library import check, integers, library


@dataclass(frozen=True)
class Numbering:
    """Which dimension varies fastest: ``XYZ`` means x first, as published for hwcart; empty means the last dimension
    first, as MPI_Cart and CartesianDomain number (``ZYX`` in three dimensions)."""

    grid: tuple[int, ...]
    name: str = ""

    def rank(self, point: Sequence[int]) -> int:
        """The rank at a grid point."""
        rank = ctypes.c_int()
        check(library().phl_numbering_rank(len(self.grid), integers(self.grid), self.name.encode(), integers(point),
                                           ctypes.byref(rank)))
        return rank.value

    def coords(self, rank: int) -> tuple[int, ...]:
        """The grid point of a rank."""
        point = integers(self.grid)
        check(library().phl_numbering_coords(len(self.grid), integers(self.grid), self.name.encode(), integers([rank])[0], point))
        return tuple(point)

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """Values of the grid points, in the order of their ranks."""
        return values.ravel()[np.argsort(self.ranks().ravel())]

    def ranks(self) -> np.ndarray:
        """The rank at every grid point, in the shape of the grid."""
        ranks = np.zeros(self.grid, np.int32)
        for dimension, extent in enumerate(self.grid):  # a rank is a sum of one term for each coordinate
            if extent == 1:  # where there is no step
                continue
            one_step = self.rank([int(other == dimension) for other in range(len(self.grid))])
            shape = [extent if other == dimension else 1 for other in range(len(self.grid))]
            ranks += (one_step * np.arange(extent, dtype=np.int32)).reshape(shape)
        return ranks

"""Structured grids, split over a process grid."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _core
from ._arguments import (
    choice,
    extents_of,
    halo_sides,
    integer,
    integers,
    per_dimension,
    periodicity,
)
from ._together import resolve, together
from .arrays import HaloArray, Place, make_array

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import DTypeLike

Halo = int | Sequence[int | tuple[int, int]]
Slices = tuple[slice, ...]


class CartesianDomain:
    """Who owns which cell of a structured grid of 1 to 4 dimensions.

    Construction is collective over `comm`; every rank passes the same arguments. Ranks fill the process grid with the
    last dimension fastest. Extents that do not divide give the first ranks one cell more.

    Parameters
    ----------
    extents: cells of the whole grid in each dimension.
    halo: ghost cells around each block: one width, one per dimension, or (lower, upper) per dimension.
    periodic: whether opposite ends are neighbors, for all dimensions or for each.
    process_grid: ranks in each dimension; by default the grid with the least halo.
    splits: per dimension None (even), or the cells of each process coordinate.
    blocks_per_rank: blocks that each rank holds in each dimension; by default one.
    neighbors: "full" fills edges and corners too, "faces" only what lies straight across a face.
    algorithm: "standard" sends one message to each neighbor, "staged" goes dimension by dimension with fewer messages.
    comm: an mpi4py communicator; MPI.COMM_WORLD by default.

    Raises ValueError or TypeError on every rank when an argument is wrong or differs between ranks.

        domain = ph.CartesianDomain((768, 768, 768), halo=2, periodic=True)
        u = domain.zeros(dtype="float32")
    """

    def __init__(
        self,
        extents: int | Sequence[int],
        halo: Halo = 1,
        periodic: bool | Sequence[bool] = False,
        *,
        process_grid: Sequence[int] | None = None,
        splits: Sequence[Sequence[int] | None] | None = None,
        blocks_per_rank: Sequence[int] | None = None,
        neighbors: Literal["full", "faces"] = "full",
        algorithm: Literal["standard", "staged"] = "standard",
        comm: "Intracomm | None" = None,
    ) -> None:
        self._comm, self._native_comm = resolve(comm)

        def parse() -> dict[str, Any]:
            sizes = extents_of(extents)
            dimensions = len(sizes)
            self._extents = tuple(sizes)
            self._halo = halo_sides(halo, dimensions)
            self._periodic = tuple(periodicity(periodic, dimensions))
            self._neighbors = choice(neighbors, "neighbors", _core.Neighbors.__members__)
            self._algorithm = choice(algorithm, "algorithm", _core.Algorithm.__members__)
            return {
                "extents": sizes,
                "lower": [lower for lower, _ in self._halo],
                "upper": [upper for _, upper in self._halo],
                "periodic": list(self._periodic),
                "process_grid": [] if process_grid is None else integers(process_grid, "process_grid"),
                "splits": [] if splits is None else _parse_splits(splits, dimensions),
                "blocks_per_rank": [] if blocks_per_rank is None else integers(blocks_per_rank, "blocks_per_rank"),
                "neighbors": _core.Neighbors[self._neighbors],
                "algorithm": _core.Algorithm[self._algorithm],
            }

        self._native = _core.CartesianDomain(self._native_comm, **together(self._native_comm, parse))
        self._blocks = tuple(tuple(map(slice, *box)) for box in self._native.blocks)

    @property
    def comm(self) -> "Intracomm":
        """The communicator that was passed."""
        return self._comm

    @property
    def extents(self) -> tuple[int, ...]:
        """Cells of the whole grid in each dimension."""
        return self._extents

    @property
    def dimensions(self) -> int:
        """Number of dimensions, 1 to 4."""
        return len(self._extents)

    @property
    def halo(self) -> tuple[tuple[int, int], ...]:
        """((lower, upper), …): ghost cells on the sides of each dimension."""
        return self._halo

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Per dimension, whether opposite ends are neighbors."""
        return self._periodic

    @property
    def neighbors(self) -> str:
        """ "full" or "faces"."""
        return self._neighbors

    @property
    def algorithm(self) -> str:
        """ "standard" or "staged"."""
        return self._algorithm

    @property
    def process_grid(self) -> tuple[int, ...]:
        """Ranks in each dimension."""
        return tuple(self._native.process_grid)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Position of this rank in the process grid."""
        return self.coordinates_of(self._native_comm.rank)

    def coordinates_of(self, rank: int) -> tuple[int, ...]:
        """Position of `rank` in the process grid. Local."""
        if not 0 <= integer(rank, "rank") < self._native_comm.size:
            raise ValueError(f"rank {rank} does not exist: the communicator has {self._native_comm.size} ranks")
        return tuple(self._native.coordinates_of(rank))

    @property
    def starts(self) -> tuple[tuple[int, ...], ...]:
        """Per dimension, the first cell of each block along it, and at the end the extent."""
        return tuple(map(tuple, self._native.starts))

    @property
    def blocks(self) -> tuple[Slices, ...]:
        """Per block of this rank, the global cells that it owns, as slices of the whole grid."""
        return self._blocks

    @property
    def owned(self) -> Slices:
        """The global cells that this rank owns, as slices of the whole grid.

        Raises ValueError where the rank has several blocks: use `blocks`.
        """
        if len(self._blocks) > 1:
            raise ValueError(f"this rank has {len(self._blocks)} blocks: use `blocks`, which has the slices of each")
        return self._blocks[0]

    def array_shape(self, halo: Halo | None = None, block: int = 0) -> tuple[int, ...]:
        """Cells of an array for a block with its halo (the domain's, or `halo`). Local."""
        return self._place(block, self._sides(halo)).shape

    def global_indices(self, block: int = 0) -> tuple[np.ndarray, ...]:
        """Global index of the owned cells, one array per dimension, shaped to broadcast against `array.owned`. Local.

        u.owned[:] = np.sin(domain.global_indices()[0])
        """
        return tuple(np.ogrid[self._block(block)])

    def zeros(
        self,
        dtype: "DTypeLike" = "float64",
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
    ) -> HaloArray:
        """A zeroed array for the owned cells and the halo around them, in node-shared memory. Local.

        `components` adds axes after those of the domain: C order keeps a cell's components together, Fortran order puts
        the first dimension closest together and components farthest apart. `halo` may be narrower than the domain's.
        Where ranks have several blocks, a list with one array per block (though typed as the array that nearly all
        programs get). The array owns its memory.
        Raises ValueError or TypeError for wrong arguments, ResourceError when memory is short.
        """
        return self._make(dtype, components, order, halo)

    def empty(
        self,
        dtype: "DTypeLike" = "float64",
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
    ) -> HaloArray:
        """As `zeros`; what is in it is not promised."""
        return self._make(dtype, components, order, halo)

    def full(
        self,
        fill_value: Any,
        dtype: "DTypeLike | None" = None,
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
    ) -> HaloArray:
        """As `zeros`, with `fill_value` in owned cells and halo; `dtype` is by default that of the value."""
        kind = np.asarray(fill_value).dtype if dtype is None else dtype
        return self._make(kind, components, order, halo, fill_value)

    def _make(self, dtype: Any, components: Any, order: Any, halo: Any, value: Any = None) -> HaloArray:
        sides = self._sides(halo)
        places = [self._place(block, sides) for block in range(len(self._blocks))]
        arrays: Any = [make_array(place, dtype, components, order, value) for place in places]
        result: HaloArray = arrays[0] if len(arrays) == 1 else arrays
        return result

    def _sides(self, halo: Halo | None) -> tuple[tuple[int, int], ...]:
        if halo is None:
            return self._halo
        sides = halo_sides(halo, self.dimensions)
        for d, (mine, most) in enumerate(zip(sides, self._halo, strict=True)):
            if min(mine) < 0 or mine[0] > most[0] or mine[1] > most[1]:
                raise ValueError(
                    f"halo {mine} in dimension {d} does not fit into the domain's {most}: "
                    "make the domain with the widest halo that any array needs"
                )
        return sides

    def _block(self, block: int) -> Slices:
        if not 0 <= integer(block, "block") < len(self._blocks):
            raise ValueError(f"block {block} does not exist: this rank has {len(self._blocks)}")
        return self._blocks[block]

    def _place(self, block: int, sides: tuple[tuple[int, int], ...]) -> Place:
        extents = [part.stop - part.start for part in self._block(block)]
        shape = tuple(lower + extent + upper for extent, (lower, upper) in zip(extents, sides, strict=True))
        owned = tuple(slice(lower, lower + extent) for extent, (lower, _) in zip(extents, sides, strict=True))
        return Place(self, shape, owned, halo=sides, block=block)

    def __repr__(self) -> str:
        return (
            f"CartesianDomain({self._extents}, halo={self._halo}, periodic={self._periodic}, "
            f"process_grid={self.process_grid}, rank {self._native_comm.rank} at {self.coordinates})"
        )


def choose_process_grid(ranks: int, extents: Sequence[int], halo: Halo = 1) -> tuple[int, ...]:
    """The process grid with the least halo surface; among equals the one that cuts the slowest dimension most. Local."""
    sizes = extents_of(extents)
    sides = halo_sides(halo, len(sizes))
    if integer(ranks, "ranks") < 1:
        raise ValueError(f"ranks is {ranks}: pass at least 1")
    return tuple(_core.choose_process_grid(ranks, sizes, [side[0] for side in sides], [side[1] for side in sides]))


def _parse_splits(splits: Any, dimensions: int) -> list[list[int]]:
    parts = per_dimension(splits, dimensions, "splits")
    return [[] if part is None else integers(part, "splits", 64) for part in parts]

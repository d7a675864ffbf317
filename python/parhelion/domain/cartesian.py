"""Structured grids, split over a process grid."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from .. import _core
from ..base.arguments import Sides, Stagger, choice, depth_of, extents_of, halo_sides, integer, integers, per_dimension, periodicity, stagger_of
from ..base.handles import not_pickled
from ..base.masks import wet_bytes
from ..base.together import resolve, together
from .arrays import HaloArray, Place, make_array

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import DTypeLike

    from ..base.masks import Mask

Halo = int | Sequence[int | tuple[int, int]]
Slices = tuple[slice, ...]


SideName = Literal["lower", "upper"]
Side = tuple[int, SideName] | tuple[int, int, SideName]


class Seam(NamedTuple):
    """See `seam` and `fold`. Sides are (axis, "lower" or "upper", tile or -1)."""

    start: tuple[int, str, int]
    end: tuple[int, str, int]
    axes: tuple[int, ...]
    backward: tuple[int, ...]
    pivot: str

    def _native(self) -> tuple[Any, ...]:
        start, end = ((axis, side == "upper", tile) for axis, side, tile in (self.start, self.end))
        return start, end, list(self.axes), sum(1 << axis for axis in self.backward), self.pivot == "center"


def seam(start: Side, end: Side, *, axes: Sequence[int] | None = None, backward: int | Sequence[int] = ()) -> Seam:
    """Two sides of a grid, or of its tiles, that are joined: for `seams` of a CartesianDomain.

    Who leaves the grid through `start` enters it through `end`, and the other way.

    Args:
        start: (axis, "lower" or "upper"), in a grid of tiles (tile, axis, "lower" or "upper").
        end: likewise; the start itself: a side that is joined to itself, mirrored.
        axes: for each axis of the start, the axis of the end that it becomes. None: the axes of the two sides change places.
        backward: axes of the start that run backward at the end, others than that of the side.

    Raises ValueError or TypeError for what is no side or no axis; what does not fit a grid is told by the domain. Local.

        moebius = ph.CartesianDomain((40, 8), seams=[ph.seam((0, "lower"), (0, "upper"), backward=1)])
    """
    along = integers(axes, "axes") if axes is not None else []
    turned = [integer(backward, "backward")] if isinstance(backward, int) else integers(backward, "backward")
    if any(not 0 <= axis < _MOST_AXES for axis in turned):
        raise ValueError(f"backward is {backward!r}: name axes from 0 to {_MOST_AXES - 1}")
    return Seam(_side(start, "start"), _side(end, "end"), tuple(along), tuple(sorted(set(turned))), "corner")


_MOST_AXES = 4


def _side(told: Any, name: str) -> tuple[int, str, int]:
    if not isinstance(told, (tuple, list)) or len(told) not in (2, 3):
        raise TypeError(f'{name} is {told!r}: pass (axis, "lower" or "upper"), or (tile, axis, "lower" or "upper")')
    *tile, axis, side = told
    return integer(axis, f"the axis of {name}"), choice(side, f"the side of {name}", ("lower", "upper")), integer(tile[0], "the tile") if tile else -1


def fold(
    axis: int = 1,
    side: SideName = "upper",
    pivot: Literal["corner", "center"] = "corner",
    *,
    mirrored: int | None = None,
) -> Seam:
    """A side of a grid that is joined to itself, mirrored, as the north of a tripolar ocean grid is: for `seams` of a CartesianDomain.

    With n cells along the mirrored axis and m along the folded one, whose upper side is folded, the ghost (i, m - 1 + k) holds cell
    (n - 1 - i, m - k) for "corner" (NEMO's F pivot), and cell ((n - i) % n, m - 1 - k) for "center" (NEMO's T pivot), where cells of the
    last row are points that two cells hold: both have the value of the one with the smaller i after an exchange. Points of staggered
    fields are mirrored about the same place.

    Args:
        axis: the folded one.
        side: which of its sides.
        pivot: where the line of the fold lies: "corner", beyond the last row of cells, or "center", through their centers.
        mirrored: the axis along which the other half is found backward. None: the axis before, behind axis 0 axis 1.

    Raises ValueError or TypeError for other values. Local.

        domain = ph.CartesianDomain((nx, ny), periodic=(True, False), seams=[ph.fold(axis=1, pivot="center")])
        u = ph.Field(domain.zeros(stagger=(1, 0)), sign=-1)
    """
    folded = integer(axis, "axis")
    along = (1 if folded == 0 else folded - 1) if mirrored is None else integer(mirrored, "mirrored")
    plain = seam((folded, side), (folded, side), backward=along)
    return plain._replace(pivot=choice(pivot, "pivot", ("corner", "center")))


class CartesianDomain:
    """Who owns which cell of a structured grid of 1 to 4 dimensions.

    Construction is collective over `comm`; every rank passes the same arguments. Ranks fill the process grid with the
    last dimension fastest, or as `rank_order` says. Extents that do not divide give the first ranks one cell more.

    Args:
        extents: cells of the whole grid in each dimension.
        halo: ghost cells around each block: one width, one per dimension, or (lower, upper) per dimension.
        periodic: whether opposite ends are neighbors, for all dimensions or for each.
        process_grid: ranks in each dimension; by default the grid with the least halo.
        splits: per dimension None (even), or the cells of each process coordinate.
        blocks_per_rank: blocks that each rank holds in each dimension; by default one.
        neighbors: "full" fills edges and corners too, "faces" only what lies straight across a face.
        algorithm: "standard" sends one message to each neighbor, "staged" goes dimension by dimension with fewer messages.
        rank_order: how ranks fill the process grid: "last" or "first" dimension fastest; the rank at each place, places counted with the
            last dimension fastest, without those of land; or "communicator": as MPI_Cart_create has numbered them, with its grid and periodicity.
        boundary: the layers of an array beyond an end that is not periodic. "open": left alone. "owned": the rank at that end owns as
            many of them as the array's depth, so that they travel to its neighbors, too.
        seams: sides that are joined (`seam`) or folded (`fold`), each once. Not with an owned boundary nor with the staged algorithm.
        tile_axis: the axis that counts tiles: grids of their own, which seams alone join. It has no halo and is not periodic.
        mask: which cells are wet (not 0), so that blocks of land get no rank: an array of the grid's extents, or of less that broadcasts
            to them; a function of the index arrays of all dimensions (np.ogrid) that returns one; or the path of a .npy file. Given on
            every rank, read on rank 0 alone (others may pass []), and not kept. Places of the process grid without a wet cell are left
            out; the others are as many as there are ranks. Without `process_grid` one is chosen for which that is so.
        comm: an mpi4py communicator; MPI.COMM_WORLD by default.

    Raises ValueError or TypeError on every rank when an argument is wrong or differs between ranks, and where the process grid has
    another number of places with a wet cell than there are ranks.

        domain = ph.CartesianDomain((768, 768, 768), halo=2, periodic=True)
        u = domain.zeros(dtype="float32")
    """

    __reduce__ = not_pickled

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
        rank_order: Literal["last", "first", "communicator"] | Sequence[int] = "last",
        boundary: Literal["open", "owned"] = "open",
        seams: Sequence[Seam] = (),
        tile_axis: int | None = None,
        mask: "Mask | None" = None,
        comm: "Intracomm | None" = None,
    ) -> None:
        self._comm, self._native_comm = resolve(comm)

        def parse() -> dict[str, Any]:
            sizes = extents_of(extents)
            dimensions = len(sizes)
            self._extents = tuple(sizes)
            self._halo = halo_sides(halo, dimensions)
            self._tile_axis = None if tile_axis is None else integer(tile_axis, "tile_axis")
            if self._tile_axis in range(dimensions) and isinstance(halo, int):
                self._halo = tuple((0, 0) if d == self._tile_axis else sides for d, sides in enumerate(self._halo))
            flags = periodicity(periodic, dimensions)
            self._boundary = choice(boundary, "boundary", ("open", "owned"))
            fill, ranks = _parse_order(rank_order)
            if not isinstance(seams, (list, tuple)) or not all(isinstance(each, Seam) for each in seams):
                raise TypeError(f"seams is {seams!r}: pass a list of ph.seam(…) and ph.fold(…)")
            self._seams = tuple(seams)
            self._neighbors = choice(neighbors, "neighbors", _core.Neighbors.__members__)
            self._algorithm = choice(algorithm, "algorithm", _core.Algorithm.__members__)
            return {
                "extents": sizes,
                "lower": [lower for lower, _ in self._halo],
                "upper": [upper for _, upper in self._halo],
                "periodic": flags,
                "process_grid": [] if process_grid is None else integers(process_grid, "process_grid"),
                "splits": [] if splits is None else _parse_splits(splits, dimensions),
                "blocks_per_rank": [] if blocks_per_rank is None else integers(blocks_per_rank, "blocks_per_rank"),
                "neighbors": _core.Neighbors[self._neighbors],
                "algorithm": _core.Algorithm[self._algorithm],
                "fill": fill,
                "ranks": ranks,
                "owns_ends": self._boundary == "owned",
                "seams": [each._native() for each in self._seams],
                "tile_axis": -1 if self._tile_axis is None else self._tile_axis,
                "mask": None if mask is None else np.zeros(0, np.uint8) if self._native_comm.rank else wet_bytes(mask, sizes),
            }

        self._take(_core.CartesianDomain(self._native_comm, **together(self._native_comm, parse)))

    def _take(self, native: "_core.CartesianDomain", stagger: tuple[int, ...] | None = None) -> None:
        self._native = native
        self._periodic = tuple(native.periodic)
        self._stagger = stagger or (0,) * len(self._extents)
        self._blocks = tuple(tuple(map(slice, *box)) for box in native.blocks)
        self._held = tuple(tuple(map(slice, *box)) for box in native.held)

    def staggered(self, stagger: Stagger) -> "CartesianDomain":
        """The domain of the points of a staggered field, with the same communicator, process grid and cuts. Local.

        `stagger`: 1 in dimensions in which it has one point more than there are cells, one number for all or one for each. The lower
        face of cell i is point i and belongs to the cell's block; the last point belongs to the last block of its row, and is point 0
        where it is periodic. -1: the upper face of each cell. ValueError for other numbers, and where the domain is staggered already.

            faces = domain.staggered((1, 0))
            x = faces.global_indices()[0]
        """
        along = stagger_of(stagger, self.dimensions)
        points: CartesianDomain = object.__new__(CartesianDomain)
        points.__dict__.update(self.__dict__)
        points._extents = tuple(
            cells + (more > 0 and not periodic) for cells, more, periodic in zip(self._extents, along, self._periodic, strict=True)
        )
        both = zip(self._stagger, along, strict=True)
        points._take(self._native.staggered(along), tuple(mine + more for mine, more in both))
        return points

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
    def stagger(self) -> tuple[int, ...]:
        """Per dimension 1 where it is a domain of points, else 0."""
        return self._stagger

    @property
    def seams(self) -> tuple[Seam, ...]:
        """Sides that are joined, as they were passed."""
        return self._seams

    @property
    def tile_axis(self) -> int | None:
        """The axis that counts tiles, None where there are none."""
        return self._tile_axis

    @property
    def boundary(self) -> str:
        """ "open" or "owned"."""
        return self._boundary

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

    def array_shape(self, halo: Halo | None = None, block: int = 0, stagger: Stagger = 0) -> tuple[int, ...]:
        """Extents of an array for a block: owned cells, stagger, and the halo (the domain's, or `halo`). Local."""
        return self._place(block, self._sides(halo), self._halo, stagger).shape

    def global_indices(self, block: int = 0) -> tuple[np.ndarray, ...]:
        """Global index of the owned cells (points, in a domain of them), one array per dimension, shaped to broadcast against `array.owned`. Local.

        u.owned[:] = np.sin(domain.global_indices()[0])
        """
        return tuple(np.ogrid[self._block(block)])

    def zeros(
        self,
        dtype: "DTypeLike" = "float64",
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
        stagger: Stagger = 0,
        depth: Halo | None = None,
    ) -> HaloArray:
        """A zeroed array for the owned cells and the halo around them, in node-shared memory. Local.

        `components` adds axes after those of the domain: C order keeps a cell's components together, Fortran order puts
        the first dimension closest together and components farthest apart. `halo`: layers around the cells in memory, by default the
        domain's. `depth`: how many of them exchanges fill, by default as many as the array and the domain both have; equal on all
        ranks. `stagger`: 1 in dimensions in which it lives on points, as faces across them do; there it has one value more on every
        rank. -1 where it has the point at the upper face of each cell, which seams alone tell from cells.
        Where ranks have several blocks, a list with one array per block (though typed as the array that nearly all
        programs get). The array owns its memory.
        Raises ValueError or TypeError for wrong arguments, ResourceError when memory is short.

            u = domain.zeros(stagger=(1, 0), halo=2, depth=1)
        """
        return self._make(dtype, components, order, halo, stagger, depth)

    def empty(
        self,
        dtype: "DTypeLike" = "float64",
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
        stagger: Stagger = 0,
        depth: Halo | None = None,
    ) -> HaloArray:
        """As `zeros`; what is in it is not promised."""
        return self._make(dtype, components, order, halo, stagger, depth)

    def full(
        self,
        fill_value: Any,
        dtype: "DTypeLike | None" = None,
        components: int | Sequence[int] | None = None,
        order: Literal["C", "F"] = "C",
        halo: Halo | None = None,
        stagger: Stagger = 0,
        depth: Halo | None = None,
    ) -> HaloArray:
        """As `zeros`, with `fill_value` in owned cells and halo; `dtype` is by default that of the value."""
        kind = np.asarray(fill_value).dtype if dtype is None else dtype
        return self._make(kind, components, order, halo, stagger, depth, fill_value)

    def gather(self, u: Any, root: int = 0, out: Any = None) -> np.ndarray | None:
        """All cells of a field in one array on `root`, for plots and files; None on other ranks. Collective.

        Each cell, or point, comes from its owner: ghosts and layers beyond an end are not in it. It has the extents of the grid, one
        point more along a staggered axis that is not periodic, and components behind. Blocks of land are 0, or as `out` has them. At most two
        messages of 32 MiB are under way, so that no rank needs more memory beside these arrays.

        Args:
            u: an array, a list of them for several blocks, or a Field, as for an Exchange of this domain.
            root: the rank that gets the values.
            out: an array on the root, of that shape and the dtype of `u`, to write to and to return; others pass anything. By default a new one.

        Raises ValueError, TypeError or ResourceError on every rank for arrays that do not fit, that differ between ranks or that share memory, a
        root that does not exist, and where memory is short on one. Other ranks wait for their turn, as long as the time limit lets them.

            whole = domain.gather(u)
            if domain.comm.rank == 0:
                np.save("u.npy", whole)
        """
        from .fields import as_array
        from .whole import move_whole, read_whole

        parts, whole = together(
            self._native_comm,
            lambda: read_whole(self, u, root, "out", np.zeros if out is None else lambda *_: as_array(out, "out")),
        )
        move_whole(_core.gather, self, parts, whole, root)
        return whole.arrays[0] if self._native_comm.rank == root else None

    def scatter(self, whole: Any, u: Any, root: int = 0) -> None:
        """What every rank owns of a field, from an array of all cells on `root`. Collective; the other way of `gather`.

        Args:
            whole: on the root, an array as `gather` gives it, which may be read-only (also a file that NumPy maps); others pass anything.
            u: as for `gather`. Ghosts, and layers beyond an end, are not written.
            root: the rank that has the values.

        Raises the errors of `gather`.

            domain.scatter(np.load("u.npy", mmap_mode="r") if domain.comm.rank == 0 else None, u)
        """
        from .whole import move_whole, read_whole

        parts, given = together(self._native_comm, lambda: read_whole(self, u, root, "whole", lambda *_: np.asarray(whole)))
        move_whole(_core.scatter, self, parts, given, root)

    def _make(self, dtype: Any, components: Any, order: Any, halo: Any, stagger: Any, depth: Any, value: Any = None) -> HaloArray:
        sides = self._sides(halo)
        layers = depth_of(depth, sides, self._halo)
        places = [self._place(block, sides, layers, stagger) for block in range(len(self._blocks))]
        arrays: Any = [make_array(place, dtype, components, order, value) for place in places]
        result: HaloArray = arrays[0] if len(arrays) == 1 else arrays
        return result

    def _sides(self, halo: Halo | None) -> Sides:
        if halo is None:
            return self._halo
        sides = halo_sides(halo, self.dimensions)
        if any(width < 0 for side in sides for width in side):
            raise ValueError(f"halo is {halo!r}: pass 0 or more layers")
        return sides

    def _block(self, block: int) -> Slices:
        if not 0 <= integer(block, "block") < len(self._blocks):
            raise ValueError(f"block {block} does not exist: this rank has {len(self._blocks)}")
        return self._blocks[block]

    def _place(self, block: int, sides: Sides, depth: Sides, stagger: Stagger) -> Place:
        more = stagger_of(stagger, self.dimensions)
        points = self.staggered(more) if any(more) else self
        owned, held = points._block(block), points._held[block]
        shape = tuple(lower + part.stop - part.start + upper for part, (lower, upper) in zip(held, sides, strict=True))
        return Place(
            self, shape, _behind(owned, sides), halo=sides, block=block, held=_behind(held, sides), depth=depth, stagger=points._stagger
        )

    def __repr__(self) -> str:
        dry = math.prod(self.process_grid) - self._native_comm.size
        land = f" with {dry} places of land" if dry else ""
        return (
            f"CartesianDomain({self._extents}, halo={self._halo}, periodic={self._periodic}, "
            f"process_grid={self.process_grid}{land}, rank {self._native_comm.rank} at {self.coordinates})"
        )


def choose_process_grid(ranks: int, extents: Sequence[int], halo: Halo = 1) -> tuple[int, ...]:
    """The process grid with the least halo surface; among equals the one that cuts the slowest dimension most. Local."""
    sizes = extents_of(extents)
    sides = halo_sides(halo, len(sizes))
    if integer(ranks, "ranks") < 1:
        raise ValueError(f"ranks is {ranks}: pass at least 1")
    return tuple(_core.choose_process_grid(ranks, sizes, [side[0] for side in sides], [side[1] for side in sides]))


def _behind(box: Slices, sides: Sides) -> Slices:
    return tuple(slice(lower, lower + part.stop - part.start) for part, (lower, _) in zip(box, sides, strict=True))


def _parse_order(rank_order: Any) -> tuple["_core.RankFill", list[int]]:
    if isinstance(rank_order, str):
        return _core.RankFill[choice(rank_order, "rank_order", _core.RankFill.__members__)], []
    ranks = integers(rank_order, "rank_order")
    if not ranks:
        raise ValueError("rank_order is empty: give the rank at each place of the process grid, or leave it out")
    return _core.RankFill["last"], ranks


def _parse_splits(splits: Any, dimensions: int) -> list[list[int]]:
    parts = per_dimension(splits, dimensions, "splits")
    return [[] if part is None else integers(part, "splits", 64) for part in parts]


def CubedSphere(cells: int, levels: Sequence[int] = (), **options: Any) -> CartesianDomain:
    """The domain of a cubed sphere: 6 tiles of cells × cells, which have the axes (tile, x, y) and those of `levels`. Collective.

    Tiles 0 to 3 go around the equator, each beyond the upper end of x of the one before it. Tile 4 lies beyond their upper ends of y and
    continues tile 0, tile 5 beyond the lower ones. Where three tiles meet, ghosts beyond both sides of a corner keep their values.

    Args:
        cells: along each side of a tile.
        levels: extents of further axes, such as of vertical levels, which have no halo where `halo` is one number.
        options: of CartesianDomain. A `process_grid` has one entry for each axis: (6, 2, 2) are 4 ranks for each tile.

    Raises ValueError or TypeError as CartesianDomain does.

        cube = ph.CubedSphere(48, halo=2)
        h, u, v = cube.zeros(), cube.zeros(stagger=(0, 1, 0)), cube.zeros(stagger=(0, 0, 1))
        exchange = ph.Exchange(cube, h, vector=(u, v))
    """
    halo = options.pop("halo", 1)
    if isinstance(halo, int):
        halo = (0, halo, halo, *(0 for _ in levels))
    seams = [seam(start, end, backward=backward) for start, end, backward in _core.cube_seams(1)]
    return CartesianDomain((6, cells, cells, *levels), halo=halo, seams=seams, tile_axis=0, **options)

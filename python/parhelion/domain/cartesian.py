"""Structured grids on a process grid."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from .. import _core
from ..base.arguments import Sides, Stagger, choice, depth_of, extents_of, halo_sides, integer, integers, padded, per_dimension, periodicity, stagger_of, widths_of
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
    """Two joined sides, from `seam` or `fold`. A side is (axis, "lower" or "upper", tile or -1)."""

    start: tuple[int, str, int]
    end: tuple[int, str, int]
    axes: tuple[int, ...]
    backward: tuple[int, ...]
    pivot: str

    def _native(self) -> tuple[Any, ...]:
        start, end = ((axis, _SIDES.index(side), tile) for axis, side, tile in (self.start, self.end))
        return start, end, self.axes, sum(1 << axis for axis in self.backward), _PIVOTS.index(self.pivot)


# Numbered as in C++.
_SIDES, _PIVOTS, _BOUNDARIES = ("lower", "upper"), ("corner", "center"), ("open", "owned")
NEIGHBORS, _ALGORITHMS, _FILLS = ("full", "faces"), ("standard", "by_dimension"), ("last", "first", "communicator")
Pivot = Literal["corner", "center"]


def seam(
    start: Side, end: Side, *, axes: Sequence[int] | None = None, backward: int | Sequence[int] = (), pivot: Pivot = "corner"
) -> Seam:
    """Join two sides of a grid or of its tiles, for `seams` of a CartesianDomain: leaving through `start` enters through `end`, and vice versa.

    Args:
        start: (axis, "lower" or "upper"); in a grid of tiles (tile, axis, "lower" or "upper").
        end: likewise. Equal to `start`: the side is joined to itself, mirrored.
        axes: the axis of the end that continues each axis of the start. None: the axes of the two sides change places.
        backward: axes of the start, other than the side's, that run backward at the end.
        pivot: as of `fold`; "center" joins a side to itself only.

    Raises ValueError or TypeError for an invalid side or axis; the domain reports a seam that does not fit its grid. Local.

        moebius = ph.CartesianDomain((40, 8), seams=[ph.seam((0, "lower"), (0, "upper"), backward=1)])
    """
    along = integers(axes, "axes") if axes is not None else []
    turned = [integer(backward, "backward")] if isinstance(backward, int) else integers(backward, "backward")
    if any(not 0 <= axis < _MOST_AXES for axis in turned):
        raise ValueError(f"backward is {backward!r}: name axes from 0 to {_MOST_AXES - 1}")
    line = choice(pivot, "pivot", _PIVOTS)
    return Seam(_side(start, "start"), _side(end, "end"), tuple(along), tuple(sorted(set(turned))), line)


_MOST_AXES = 4


def _side(told: Any, name: str) -> tuple[int, str, int]:
    if not isinstance(told, (tuple, list)) or len(told) not in (2, 3):
        raise TypeError(f'{name} is {told!r}: pass (axis, "lower" or "upper"), or (tile, axis, "lower" or "upper")')
    *tile, axis, side = told
    return integer(axis, f"the axis of {name}"), choice(side, f"the side of {name}", _SIDES), integer(tile[0], "the tile") if tile else -1


def fold(
    axis: int = 1,
    side: SideName = "upper",
    pivot: Pivot = "corner",
    *,
    mirrored: int | None = None,
    tile: int | None = None,
) -> Seam:
    """Join a side of a grid to itself, mirrored, as at the north of a tripolar ocean grid; for `seams` of a CartesianDomain.

    Take n cells along the mirrored axis and m along the folded one, with its upper side folded. For "corner" (NEMO's F pivot), ghost
    (i, m - 1 + k) holds cell (n - 1 - i, m - k). For "center" (NEMO's T pivot), it holds cell ((n - i) % n, m - 1 - k); each point of the last
    row is then held by two cells, and an exchange gives both the value of the cell with the smaller i. Points of staggered fields are mirrored
    about the same line.

    Args:
        axis: the folded axis.
        side: the folded side of that axis.
        pivot: line of the fold: "corner", beyond the last row of cells, or "center", through their centers.
        mirrored: the axis that runs backward beyond the fold. None: the axis before `axis`; for axis 0, axis 1.
        tile: the tile whose side is folded. None: every tile.

    Raises ValueError or TypeError for other values. Local.

        domain = ph.CartesianDomain((nx, ny), periodic=(True, False), seams=[ph.fold(axis=1, pivot="center")])
        u = ph.Field(domain.zeros(stagger=(1, 0)), sign=-1)
    """
    folded = integer(axis, "axis")
    along = (1 if folded == 0 else folded - 1) if mirrored is None else integer(mirrored, "mirrored")
    where: Side = (folded, side) if tile is None else (integer(tile, "tile"), folded, side)
    return seam(where, where, backward=along, pivot=pivot)


class CartesianDomain:
    """Decomposition of a structured grid of 1 to 4 dimensions over the ranks of a communicator.

    Construction is collective over `comm`; every rank passes the same arguments. If an extent does not divide evenly, the first ranks get one
    cell more.

    Args:
        extents: cells of the whole grid in each dimension.
        halo: ghost cells around each block: one width, one per dimension, or (lower, upper) per dimension.
        periodic: whether opposite ends are neighbors, for all dimensions or for each.
        process_grid: ranks in each dimension; by default the grid with the least halo.
        splits: per dimension None (even), or the cells of each process coordinate.
        blocks_per_rank: blocks of each rank in each dimension; by default one.
        neighbors: "full" includes ghosts beyond edges and corners, "faces" only those straight across a face.
        algorithm: "standard" sends one message to each neighbor; "by_dimension" exchanges dimension by dimension, with fewer messages.
        rank_order: "last" or "first" dimension fastest; or the rank at each wet place, counted with the last dimension fastest, where a rank
            may have several places, and -1 means land; or "communicator": the numbering, grid and periodicity of a communicator from
            MPI_Cart_create.
        boundary: layers of an array beyond a non-periodic end. "open": exchanges ignore them. "owned": the rank at that end owns as many
            of them as the array's depth, and sends them to its neighbors, too.
        seams: sides that are joined (`seam`) or folded (`fold`), each once. Not with an owned boundary or the algorithm by_dimension.
        tile_axis: the axis that counts tiles: separate grids that only seams join. It has no halo and is not periodic.
        mask: wet cells (not 0); blocks of land get no rank. An array that broadcasts to the grid's extents; a function of the index arrays
            of all dimensions (np.ogrid) that returns one; or the path of a .npy file. Every rank passes a mask; only rank 0 reads it (others
            may pass []). The number of ranks must equal that of places with a wet cell; without `process_grid`, the constructor finds such a
            grid. The domain does not keep the mask.
        comm: an mpi4py communicator; MPI.COMM_WORLD by default.

    Raises ValueError or TypeError on every rank if an argument is wrong or differs between ranks.

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
        algorithm: Literal["standard", "by_dimension"] = "standard",
        rank_order: Literal["last", "first", "communicator"] | Sequence[int] = "last",
        boundary: Literal["open", "owned"] = "open",
        seams: Sequence[Seam] = (),
        tile_axis: int | None = None,
        mask: "Mask | None" = None,
        comm: "Intracomm | None" = None,
    ) -> None:
        self._comm, self._native_comm = resolve(comm)

        def parse() -> tuple[Any, ...]:
            sizes = extents_of(extents)
            dimensions = len(sizes)
            self._extents = tuple(sizes)
            self._halo = halo_sides(halo, dimensions)
            self._tile_axis = None if tile_axis is None else integer(tile_axis, "tile_axis")
            if self._tile_axis in range(dimensions) and np.isscalar(halo):
                self._halo = tuple((0, 0) if d == self._tile_axis else sides for d, sides in enumerate(self._halo))
            flags = periodicity(periodic, dimensions)
            self._boundary = choice(boundary, "boundary", _BOUNDARIES)
            order = _parse_order(rank_order)
            self._wet = sum(rank >= 0 for rank in order[1]) or self._native_comm.size
            if not isinstance(seams, (list, tuple)) or not all(isinstance(each, Seam) for each in seams):
                raise TypeError(f"seams is {seams!r}: pass a list of ph.seam(…) and ph.fold(…)")
            self._seams = tuple(seams)
            self._neighbors = choice(neighbors, "neighbors", NEIGHBORS)
            self._algorithm = choice(algorithm, "algorithm", _ALGORITHMS)
            options = (  # in the order of C++'s
                widths_of(self._halo),
                (padded(flags, False), dimensions),
                [] if process_grid is None else integers(process_grid, "process_grid"),
                [] if splits is None else _parse_splits(splits, dimensions),
                [] if blocks_per_rank is None else integers(blocks_per_rank, "blocks_per_rank"),
                NEIGHBORS.index(self._neighbors),
                _ALGORITHMS.index(self._algorithm),
                order,
                _BOUNDARIES.index(self._boundary),
                [each._native() for each in self._seams],
                -1 if self._tile_axis is None else self._tile_axis,
            )
            wet = None if mask is None else np.zeros(0, np.uint8) if self._native_comm.rank else wet_bytes(mask, sizes)
            return sizes, options, wet

        self._take(_core.CartesianDomain(self._native_comm, *together(self._native_comm, parse)))

    def _take(self, native: "_core.CartesianDomain", stagger: tuple[int, ...] | None = None) -> None:
        self._native = native
        dimensions = len(self._extents)
        self._starts, self._periodic = zip(*map(native.axis, range(dimensions)), strict=True)
        self._stagger = stagger or (0,) * dimensions
        self._blocks, self._held = (tuple(tuple(map(slice, *box))[:dimensions] for box in boxes) for boxes in list(zip(*native.blocks))[:2])

    def staggered(self, stagger: Stagger) -> "CartesianDomain":
        """The domain of a staggered field's points, with the same communicator, process grid and decomposition. Local.

        `stagger`, one number or one per dimension: 1 where the field has one more point than cells. Point i is the lower face of cell i
        and belongs to that cell's block; the last point belongs to the last block, or is point 0 in a periodic dimension. -1: the upper face of
        each cell. Raises ValueError for other numbers, or if the domain is staggered already.

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
        points._take(self._native.staggered((padded(along),)), tuple(mine + more for mine, more in both))
        return points

    @property
    def comm(self) -> "Intracomm":
        """The communicator of the domain."""
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
        """Stagger per dimension; 0 in a domain of cells."""
        return self._stagger

    @property
    def seams(self) -> tuple[Seam, ...]:
        """The joined sides."""
        return self._seams

    @property
    def tile_axis(self) -> int | None:
        """The axis that counts tiles; None without tiles."""
        return self._tile_axis

    @property
    def boundary(self) -> str:
        """Boundary layers: "open" or "owned"."""
        return self._boundary

    @property
    def neighbors(self) -> str:
        """Neighbors: "full" or "faces"."""
        return self._neighbors

    @property
    def algorithm(self) -> str:
        """"standard" or "by_dimension"."""
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
        """Per dimension, the first cell of each block, then the extent."""
        return tuple(map(tuple, self._starts))

    @property
    def blocks(self) -> tuple[Slices, ...]:
        """Owned global cells of each block of this rank, as slices of the whole grid."""
        return self._blocks

    @property
    def owned(self) -> Slices:
        """Global cells that this rank owns, as slices of the whole grid.

        Raises ValueError if the rank has several blocks: use `blocks`.
        """
        if len(self._blocks) > 1:
            raise ValueError(f"this rank has {len(self._blocks)} blocks: use `blocks`, which has the slices of each")
        return self._blocks[0]

    def array_shape(self, halo: Halo | None = None, block: int = 0, stagger: Stagger = 0) -> tuple[int, ...]:
        """Extents of a block's array: owned cells, stagger, and `halo` (by default the domain's). Local."""
        return self._place(block, self._sides(halo), self._halo, stagger).shape

    def global_indices(self, block: int = 0) -> tuple[np.ndarray, ...]:
        """Global indices of the owned cells or points, one array per dimension, shaped to broadcast against `array.owned`. Local.

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
        """Allocate a zeroed array of owned cells and halo in node-shared memory. Local.

        `components` adds axes after those of the domain: C order keeps a cell's components contiguous, Fortran order the first dimension. `halo`:
        layers in memory, by default the domain's. `depth`: layers that exchanges fill, equal on all ranks; by default the smaller of both halos.
        `stagger`: 1 in dimensions with values on points, such as the faces across them; each rank's array then has one more value. -1: values on
        upper faces of cells, which only seams distinguish from cells. A rank with several blocks gets a list with one array per block (the
        annotation names the common case). The array owns its memory. Raises ValueError or TypeError for wrong arguments, ResourceError when memory
        is short.

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
        """Like `zeros`, with unspecified values."""
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
        """Like `zeros`, with `fill_value` in owned cells and halo; `dtype` defaults to that of the value."""
        kind = np.asarray(fill_value).dtype if dtype is None else dtype
        return self._make(kind, components, order, halo, stagger, depth, fill_value)

    def gather(self, u: Any, root: int = 0, out: Any = None) -> np.ndarray | None:
        """Collect all cells of a field in one array on `root`; return None on other ranks. Collective.

        The array has the grid's extents, one more point along a staggered axis that is not periodic, and the component axes last. Each value comes
        from its owner; ghosts and layers beyond an end are left out. Blocks of land are 0, or keep the values of `out`. At most two messages of
        32 MiB are in flight.

        Args:
            u: an array, a list of arrays for several blocks, or a Field, as for an Exchange of this domain.
            root: the rank that receives the values.
            out: on the root, an array of that shape and the dtype of `u`, to fill and return; ignored elsewhere. By default a new one.

        Raises ValueError, TypeError or ResourceError on every rank for arrays that do not fit, differ between ranks or share memory, for a root
        that does not exist, and when memory is short on any rank. Ranks wait for their turn up to the time limit.

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
        """Distribute an array of all cells on `root` to the owners: the inverse of `gather`. Collective.

        Args:
            whole: on the root, an array as from `gather`, also read-only or memory-mapped; ignored elsewhere.
            u: as for `gather`. Ghosts and layers beyond an end keep their values.
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
        dry = math.prod(self.process_grid) - self._wet
        land = f" with {dry} places of land" if dry else ""
        return (
            f"CartesianDomain({self._extents}, halo={self._halo}, periodic={self._periodic}, "
            f"process_grid={self.process_grid}{land}, rank {self._native_comm.rank} at {self.coordinates})"
        )


def choose_process_grid(ranks: int, extents: Sequence[int], halo: Halo = 1) -> tuple[int, ...]:
    """The process grid with the smallest halo; among equals, the one that cuts the slowest dimension most. Local."""
    sizes = extents_of(extents)
    sides = halo_sides(halo, len(sizes))
    if integer(ranks, "ranks") < 1:
        raise ValueError(f"ranks is {ranks}: pass at least 1")
    return tuple(_core.choose_process_grid(ranks, sizes, widths_of(sides)))


def _behind(box: Slices, sides: Sides) -> Slices:
    return tuple(slice(lower, lower + part.stop - part.start) for part, (lower, _) in zip(box, sides, strict=True))


def _parse_order(rank_order: Any) -> tuple[int, list[int]]:
    if isinstance(rank_order, str):
        return _FILLS.index(choice(rank_order, "rank_order", _FILLS)), []
    ranks = integers(rank_order, "rank_order")
    if not ranks:
        raise ValueError("rank_order is empty: give the rank at each place of the process grid, or leave it out")
    return 0, ranks


def _parse_splits(splits: Any, dimensions: int) -> list[list[int]]:
    parts = per_dimension(splits, dimensions, "splits")
    return [[] if part is None else integers(part, "splits", 64) for part in parts]


def CubedSphere(cells: int, levels: Sequence[int] = (), **options: Any) -> CartesianDomain:
    """The domain of a cubed sphere: 6 tiles of cells × cells, with axes (tile, x, y) and those of `levels`. Collective.

    Tiles 0 to 3 go around the equator, each beyond the upper end of x of the previous one. Tile 4 lies beyond their upper ends of y and
    continues tile 0; tile 5 lies beyond the lower ones. Where three tiles meet, exchanges leave the ghosts beyond both sides unchanged.

    Args:
        cells: along each side of a tile.
        levels: extents of further axes, such as vertical levels; they have no halo if `halo` is one number.
        options: of CartesianDomain. A `process_grid` has one entry per axis: (6, 2, 2) puts 4 ranks on each tile.

    Raises ValueError or TypeError as CartesianDomain does.

        cube = ph.CubedSphere(48, halo=2)
        h, u, v = cube.zeros(), cube.zeros(stagger=(0, 1, 0)), cube.zeros(stagger=(0, 0, 1))
        exchange = ph.Exchange(cube, h, vector=(u, v))
    """
    halo = options.pop("halo", 1)
    if np.isscalar(halo):
        halo = (0, halo, halo, *(0 for _ in levels))
    seams = [
        Seam((axis, _SIDES[side], tile), (end, _SIDES[to], other), (), tuple(each for each in (1, 2) if backward >> each & 1), "corner")
        for (axis, side, tile), (end, to, other), _, backward, _ in _core.cube_seams(1)
    ]
    return CartesianDomain((6, cells, cells, *levels), halo=halo, seams=seams, tile_axis=0, **options)

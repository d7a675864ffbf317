"""Communicators whose ranks sit on the machine where the placement wants them."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..base.handles import handle_of
from .between import BetweenNodes
from .library import PlacementError, check, integers, library, long_integers, text
from .placement import _objective, _periodic, as_stencil
from .parameters import Parameters
from .placement import Score
from .stencil import Stencil

if TYPE_CHECKING:
    from mpi4py import MPI


class PlacedComm:
    """A Cartesian communicator that keeps its placement.

    Collective over `parent` (MPI.COMM_WORLD unless told); every rank passes the same arguments, except `node_color`.
    Nodes are the ranks that share memory; sockets, NUMA domains, caches and cores come from hwloc (or Linux' /sys) and
    from how ranks are bound. Give the process grid, or the global `cells` to have it chosen, or `blocks` by hand.
    `comm` is an ordinary mpi4py communicator that lives as long as this object, and as its parent: do not free it. With the
    default numbering its ranks are those that CartesianDomain and MPI_Cart expect. Dropping the object is local. Raises PlacementError on every rank.

        placed = PlacedComm(cells=(768, 768, 768), periodic=True)
        domain = ph.CartesianDomain((768, 768, 768), process_grid=placed.grid, periodic=True, comm=placed.comm)
    """

    def __init__(
        self,
        parent: MPI.Comm | None = None,
        *,
        grid: Sequence[int] | None = None,
        cells: Sequence[int] | None = None,
        periodic: bool | Sequence[bool] = False,
        stencil: Stencil | str = "faces",
        halo: int = 1,
        bytes_per_cell: int = 8,
        objective: str = "jsum",
        blocks: Mapping[str, Sequence[int]] | None = None,
        numbering: str = "",
        node_color: int = -1,
        parameters: Parameters | None = None,
    ) -> None:
        from mpi4py import MPI

        given = grid or cells or next(iter((blocks or {}).values()), None)
        if given is None:
            raise PlacementError("nothing says how many dimensions the process grid has: give grid, cells or blocks")
        dimensions = len(given)
        stencil = as_stencil(stencil, dimensions)
        parent = parent or MPI.COMM_WORLD
        self._handle = ctypes.c_void_p()
        check(library().phl_placed_create(
            handle_of(parent), dimensions, grid and integers(grid), cells and long_integers(cells),
            _periodic(periodic, dimensions), len(stencil.offsets), stencil.steps(),
            int(halo), int(bytes_per_cell), _objective(objective), " ".join(blocks or {}).encode(),
            integers(extent for block in (blocks or {}).values() for extent in block), numbering.encode(),
            int(node_color), parameters and ctypes.byref(parameters.c_costs()), ctypes.byref(self._handle)))
        weakref.finalize(self, library().phl_placed_free, self._handle)
        self.comm: MPI.Comm = MPI.Comm.f2py(library().phl_placed_comm(self._handle))
        self.rank: int = library().phl_placed_rank(self._handle)
        self.size: int = self.comm.Get_size()
        extents = integers(range(dimensions))
        check(library().phl_placed_grid(self._handle, extents))
        self.grid: tuple[int, ...] = tuple(extents)

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of this rank."""
        return self.coords_of(self.rank)

    def coords_of(self, rank: int) -> tuple[int, ...]:
        """The coordinates of any rank. Local."""
        coords = integers(self.grid)
        check(library().phl_placed_coords(self._handle, integers([rank])[0], coords))
        return tuple(coords)

    def rank_of(self, coords: Sequence[int]) -> int:
        """The rank at coordinates, which wrap along periodic dimensions; MPI.PROC_NULL where the grid ends. Local."""
        if len(coords) != len(self.grid):
            raise PlacementError(f"coordinates {tuple(coords)} do not have the {len(self.grid)} dimensions of the grid")
        rank = ctypes.c_int()
        check(library().phl_placed_rank_of(self._handle, integers(coords), ctypes.byref(rank)))
        return rank.value

    def to_cart(self) -> MPI.Cartcomm:
        """Collective. An MPI_Cart communicator in which this process has the same coordinates; the caller frees it."""
        from mpi4py import MPI

        cart = ctypes.c_int()
        check(library().phl_placed_to_cart(self._handle, ctypes.byref(cart)))
        return MPI.Cartcomm(MPI.Comm.f2py(cart.value))

    def sub(self, remain: Sequence[bool]) -> MPI.Comm:
        """Collective. The ranks that differ only in the dimensions that remain; the caller frees it."""
        from mpi4py import MPI

        if len(remain) != len(self.grid):
            raise PlacementError(f"{len(remain)} dimensions are named for a process grid of {len(self.grid)}")
        sub = ctypes.c_int()
        check(library().phl_placed_sub(self._handle, integers(remain), ctypes.byref(sub)))
        return MPI.Comm.f2py(sub.value)

    def scores(self, blocked: bool = False) -> dict[str, Score]:
        """Scores by level of the placement, or of ranks numbered node after node as a blocked launch does."""
        return {text("phl_placed_level", self._handle, level): Score.from_library("phl_placed_score", self._handle, level, int(blocked))
                for level in range(library().phl_placed_levels(self._handle))}

    def between_nodes(self, blocked: bool = False) -> BetweenNodes:
        """Messages and bytes between nodes, rank by rank and collected; or those of ranks numbered node after node."""
        values = long_integers(range(8))
        check(library().phl_placed_between_nodes(self._handle, int(blocked), values))
        return BetweenNodes.from_library(values)

    def describe(self) -> str:
        """For people: the machine, what was chosen, what could not be used."""
        return text("phl_placed_describe", self._handle)

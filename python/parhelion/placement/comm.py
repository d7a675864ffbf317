"""Communicators with placed ranks."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..base.handles import handle_of
from .library import PlacementError, c_grid, described, integers, long_integers, made, received
from .machine import MOST_LEVELS
from .stencil import Stencil
from .parameters import Parameters
from .placement import BetweenNodes, CScores, Score, as_stencil, by_level, each_periodic, objective_of

if TYPE_CHECKING:
    from mpi4py import MPI


class PlacedFacts(ctypes.Structure):
    """phl_placed_facts."""

    _fields_ = (("comm", ctypes.c_int), ("rank", ctypes.c_int), ("dimensions", ctypes.c_int), ("grid", ctypes.c_int * 4), ("levels", ctypes.c_int),
                ("level", ctypes.c_char_p * MOST_LEVELS), ("scores", CScores * 2), ("between_nodes", ctypes.c_int64 * 8 * 2),
                ("description", ctypes.c_char_p))


class PlacedComm:
    """A Cartesian communicator with a placement.

    Collective over `parent` (by default MPI.COMM_WORLD); every rank passes the same arguments, except `node_color`. Nodes are the ranks that share
    memory; Linux' /sys and the ranks' binding give sockets, NUMA domains, caches and cores. Pass the process grid, the global `cells` to choose
    one, or `blocks` by hand. `comm`, an mpi4py communicator, lives as long as this object and `parent`: do not free it. Its default numbering is
    that of CartesianDomain and MPI_Cart. Dropping the object is local. Raises PlacementError on every rank.

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
            raise PlacementError("the number of dimensions of the process grid is unknown: give grid, cells or blocks")
        dimensions, blocks = len(given), blocks or {}
        for name, each in {"grid": grid, "cells": cells, **blocks}.items():
            if each is not None and len(each) != dimensions:
                raise PlacementError(f"{name} {tuple(each)} has {len(each)} entries, but the process grid has {dimensions} dimensions: give one for each")
        steps = replace(as_stencil(stencil, dimensions), halo=halo, bytes_per_cell=bytes_per_cell)
        self._handle = made(
            self, "placed", "phl_placed_create", handle_of(MPI.COMM_WORLD if parent is None else parent),
            c_grid(grid, each_periodic(periodic, dimensions), dimensions), cells and long_integers(cells), steps.for_c(cells=False),
            objective_of(objective), " ".join(blocks), integers(extent for block in blocks.values() for extent in block),
            numbering, int(node_color), parameters and ctypes.byref(parameters.c_costs()))
        self._facts = described(PlacedFacts, "phl_placed_describe", self)
        self.comm: MPI.Comm = MPI.Comm.f2py(self._facts.comm)
        self.rank: int = self._facts.rank
        self.size: int = self.comm.Get_size()
        self.grid: tuple[int, ...] = tuple(self._facts.grid[:dimensions])

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of this rank."""
        return self.coords_of(self.rank)

    def coords_of(self, rank: int) -> tuple[int, ...]:
        """Coordinates of any rank. Local."""
        return received(len(self.grid), "phl_placed_coords", self, rank)

    def rank_of(self, coords: Sequence[int]) -> int:
        """Rank at coordinates, which wrap in periodic dimensions; MPI.PROC_NULL outside the grid. Local."""
        if len(coords) != len(self.grid):
            raise PlacementError(f"coordinates {tuple(coords)} do not have the {len(self.grid)} dimensions of the grid")
        return received(1, "phl_placed_rank_of", self, integers(coords))[0]

    def to_cart(self) -> MPI.Cartcomm:
        """Create an MPI_Cart communicator with the same coordinates; the caller frees it. Collective."""
        from mpi4py import MPI

        return MPI.Cartcomm(MPI.Comm.f2py(*received(1, "phl_placed_to_cart", self)))

    def sub(self, remain: Sequence[bool]) -> MPI.Comm:
        """Create a communicator of the ranks that differ only in the remaining dimensions; the caller frees it. Collective."""
        from mpi4py import MPI

        if len(remain) != len(self.grid):
            raise PlacementError(f"{len(remain)} dimensions are named for a process grid of {len(self.grid)}")
        return MPI.Comm.f2py(*received(1, "phl_placed_sub", self, integers(remain)))

    def scores(self, blocked: bool = False) -> dict[str, Score]:
        """Scores by level of the placement, or of blocked ranks (node after node)."""
        return by_level([level.decode() for level in self._facts.level[: self._facts.levels]], self._facts.scores[blocked])

    def between_nodes(self, blocked: bool = False) -> BetweenNodes:
        """Messages and bytes between nodes, pairwise and aggregated; or of blocked ranks."""
        return BetweenNodes.from_library(self._facts.between_nodes[blocked])

    def describe(self) -> str:
        """Text on the machine, the choice, and the methods that did not apply."""
        return self._facts.description.decode()

"""Placements, bijections between grid points and the ranks of a machine, and the functions that make them."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .between import BetweenNodes, node_pairs
from .library import PlacementError, check, integers, library, long_integers, text
from .machine import Machine
from .parameters import Parameters
from .stencil import Stencil

OBJECTIVES = ("jsum", "jmax")


@dataclass(frozen=True)
class Score:
    """Directed stencil edges that leave a level: the sum over its units and the most that leave one; then in bytes."""

    jsum: int
    jmax: int
    jsum_bytes: int
    jmax_bytes: int

    @classmethod
    def from_library(cls, function: str, *arguments: object) -> Score:
        """What a function of the library puts into its last argument."""
        values = long_integers(range(4))
        check(getattr(library(), function)(*arguments, values))
        return cls(*values)


@dataclass(frozen=True)
class Member:
    """A member of the portfolio: its scores by level and, with parameters, the time that they predict, or why it does not apply."""

    name: str
    scores: dict[str, Score]
    reason: str
    seconds: float | None = None


class Placement:
    """Made by `place` and `place_by_hand`. Coordinates ↔ position cost O(log); whole maps are for pictures and files."""

    def __init__(self, handle: ctypes.c_void_p, machine: Machine, stencil: Stencil, periodic: list[bool], timed: bool = False) -> None:
        self._handle = handle
        weakref.finalize(self, library().phl_placement_free, handle)
        self.machine = machine
        self.stencil = stencil
        self.periodic = periodic
        self._timed = timed
        dimensions = library().phl_placement_dimensions(handle)
        grid = integers(range(dimensions))
        check(library().phl_placement_grid(handle, grid))
        self.grid: tuple[int, ...] = tuple(grid)
        self.name = text("phl_placement_member_name", handle, -1)
        self.note = text("phl_placement_note", handle)

    def position(self, point: Sequence[int]) -> int:
        """Where the rank of a grid point sits in the machine's hierarchical order."""
        position = ctypes.c_int()
        check(library().phl_placement_position(self._handle, integers(point), ctypes.byref(position)))
        return position.value

    def point(self, position: int) -> tuple[int, ...]:
        """The grid point of the rank at a position."""
        point = integers(self.grid)
        check(library().phl_placement_point(self._handle, integers([position])[0], point))
        return tuple(point)

    @functools.cached_property
    def positions(self) -> np.ndarray:
        """The position of every grid point, in the shape of the grid."""
        positions = np.empty(self.grid, np.int32)
        check(library().phl_placement_positions(self._handle, positions.ctypes.data_as(ctypes.POINTER(ctypes.c_int))))
        return positions

    def units(self, level: str, within_node: bool = False) -> np.ndarray:
        """The unit of every grid point at a level, in the shape of the grid."""
        units = np.empty(self.grid, np.int32)
        pointer = units.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
        check(library().phl_placement_units(self._handle, self.machine.level(level), int(within_node), pointer))
        return units

    @functools.cached_property
    def scores(self) -> dict[str, Score]:
        """Scores of this placement by level, outermost first."""
        stencil = len(self.stencil.offsets), self.stencil.steps(), long_integers(self.stencil.bytes)
        return {level: Score.from_library("phl_placement_score", self._handle, *stencil, index)
                for index, level in enumerate(self.machine.levels)}

    def node_pairs(self, blocked: bool = False) -> np.ndarray:
        """What goes from node to node (NODE_PAIR), rank by rank and collected; or in blocked order."""
        nodes = self.units("node")
        return node_pairs(np.sort(nodes, axis=None).reshape(self.grid) if blocked else nodes, self.stencil, self.periodic)

    @property
    def between_nodes(self) -> BetweenNodes:
        """The same over all nodes, and of the busiest one."""
        return BetweenNodes.of(self.node_pairs())

    @property
    def seconds(self) -> float | None:
        """The time that the parameters predict, None where there were none."""
        return self._seconds(-1)

    @functools.cached_property
    def members(self) -> list[Member]:
        """The portfolio that the automatic choice looked at; empty for a placement by hand."""
        return [self._member(index) for index in range(library().phl_placement_members(self._handle))]

    @property
    def by_name(self) -> bool:
        """Made by hand or by one method that was asked for, not chosen from the portfolio."""
        return self.name == "by_hand" or len(self.members) == 1

    @property
    def moved_points(self) -> int:
        """Grid points that local search moved."""
        return library().phl_placement_moved(self._handle)

    def _member(self, index: int) -> Member:
        reason = text("phl_placement_member_reason", self._handle, index)
        levels = [] if reason else self.machine.levels
        scores = {level: Score.from_library("phl_placement_member_score", self._handle, index, number) for number, level in enumerate(levels)}
        return Member(text("phl_placement_member_name", self._handle, index), scores, reason, None if reason else self._seconds(index))

    def _seconds(self, member: int) -> float | None:
        seconds = ctypes.c_double()
        check(library().phl_placement_seconds(self._handle, member, ctypes.byref(seconds)))
        return seconds.value if self._timed else None


def place(
    grid: Sequence[int],
    machine: Machine,
    stencil: Stencil | str = "faces",
    periodic: bool | Sequence[bool] = False,
    objective: str = "jsum",
    refine: bool = True,
    method: str = "",
    parameters: Parameters | None = None,
) -> Placement:
    """Automatic: tries the whole portfolio and improves the best by local search; never worse than any member.

    `objective` is ``jsum`` or ``jmax``; both count the stencil's bytes, level by level from the node inwards. Local
    and deterministic. `method` takes one member as it is (``blocked``, …). With `parameters` the time that they predict decides, with messages
    between nodes collected; it needs a stencil `with_halo`. Raises PlacementError.
    """
    stencil = as_stencil(stencil, len(grid))
    handle = ctypes.c_void_p()
    shape = machine._handle, len(grid), integers(grid), _periodic(periodic, len(grid)), len(stencil.offsets), stencil.steps()
    how = _objective(objective), int(refine), method.encode(), ctypes.byref(handle)
    if parameters:
        if not stencil.cells:
            raise PlacementError("what an exchange takes depends on which cells travel: give cells and halo width, by Stencil.with_halo or --extent")
        cells = long_integers(stencil.cells), stencil.halo, stencil.bytes_per_cell
        check(library().phl_place_by_time(*shape, *cells, ctypes.byref(parameters.c_costs()), *how))
    else:
        check(library().phl_place(*shape, long_integers(stencil.bytes), *how))
    return Placement(handle, machine, stencil, each_periodic(periodic, len(grid)), timed=parameters is not None)


def place_by_hand(
    machine: Machine,
    blocks: Mapping[str, Sequence[int]],
    numbering: str = "",
    stencil: Stencil | str = "faces",
    periodic: bool | Sequence[bool] = False,
) -> Placement:
    """Level by level as published: ``{"core": (4, 1, 1), "l3": (1, 2, 2), …, "node": (16, 8, 8)}``.

    Each level's blocks say how its units are arranged inside the unit around them. Raises PlacementError where they do
    not fit the machine.
    """
    if not blocks:
        raise PlacementError("no blocks are given: say how the units of each level are arranged, such as node:3x3x3")
    dimensions = len(next(iter(blocks.values())))
    if any(len(block) != dimensions for block in blocks.values()):
        raise PlacementError(f"blocks {dict(blocks)} have different numbers of dimensions: give as many for every level")
    handle = ctypes.c_void_p()
    flat = [extent for block in blocks.values() for extent in block]
    check(library().phl_place_by_hand(
        machine._handle, dimensions, " ".join(blocks).encode(), integers(flat), _periodic(periodic, dimensions),
        numbering.encode(), ctypes.byref(handle)))
    return Placement(handle, machine, as_stencil(stencil, dimensions), each_periodic(periodic, dimensions))


def choose_grid(
    machine: Machine,
    cells: Sequence[int],
    stencil: Stencil | str = "faces",
    halo: int = 1,
    bytes_per_cell: int = 8,
    periodic: bool | Sequence[bool] = False,
    objective: str = "jsum",
) -> tuple[tuple[int, ...], Stencil]:
    """The process grid for all ranks over a grid of cells that keeps the most halo bytes inside the nodes.

    Returns the grid and the stencil with its halo bytes.
    """
    stencil = as_stencil(stencil, len(cells))
    grid, sizes = integers(cells), long_integers(stencil.bytes)
    check(library().phl_choose_grid(
        machine._handle, len(cells), long_integers(cells), len(stencil.offsets), stencil.steps(), int(halo),
        int(bytes_per_cell), _periodic(periodic, len(cells)), _objective(objective), grid, sizes))
    largest = tuple(-(-cell // ranks) for cell, ranks in zip(cells, grid, strict=True))
    return tuple(grid), Stencil(stencil.offsets, tuple(sizes), largest, halo, bytes_per_cell)


def as_stencil(stencil: Stencil | str, dimensions: int) -> Stencil:
    """A stencil from its name or offsets."""
    return Stencil.parse(stencil, dimensions) if isinstance(stencil, str) else stencil


def each_periodic(periodic: bool | Sequence[bool], dimensions: int) -> list[bool]:
    """One entry per dimension."""
    wraps = [periodic] * dimensions if isinstance(periodic, bool) else list(periodic)
    if len(wraps) != dimensions:
        raise PlacementError(f"periodicity {wraps} has {len(wraps)} entries, the process grid has {dimensions} dimensions: give one, or as many")
    return wraps


def _periodic(periodic: bool | Sequence[bool], dimensions: int) -> ctypes.Array:
    return integers(each_periodic(periodic, dimensions))


def _objective(objective: str) -> int:
    if objective not in OBJECTIVES:
        raise PlacementError(f"objective '{objective}' is unknown: choose from {', '.join(OBJECTIVES)}")
    return OBJECTIVES.index(objective)

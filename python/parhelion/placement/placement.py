"""A placement: a bijection between grid points and the ranks of a machine."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .between import BetweenNodes, node_pairs
from .library import check, integers, library, long_integers, text
from .machine import Machine
from .stencil import Stencil


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
                for index, level in enumerate(self.machine.levels)}  # fmt: skip

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

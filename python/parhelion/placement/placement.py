"""Placements: bijections between grid points and the ranks of a machine."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .library import PlacementError, c_grid, call, described, integers, long_integers, made
from .machine import MOST_LEVELS, Machine
from .stencil import Stencil
from .parameters import Parameters

OBJECTIVES = ("jsum", "jmax")
# Pairwise messages and bytes, then those of the transport node_aware; bytes are -1 if cells are unknown.
CScores = ctypes.c_int64 * 4 * MOST_LEVELS
NODE_PAIR = np.dtype([(name, np.int64) for name in ("from", "to", "pairs", "bytes_in_pairs", "messages", "bytes")])


@dataclass(frozen=True)
class Score:
    """Directed stencil edges out of a level's units: sum and maximum; then in bytes."""

    jsum: int
    jmax: int
    jsum_bytes: int
    jmax_bytes: int


def by_level(levels: Sequence[str], scores: Any) -> dict[str, Score]:
    """Scores by level name."""
    return {level: Score(*score) for level, score in zip(levels, scores, strict=False)}


class PlacementFacts(ctypes.Structure):
    """phl_placement_facts."""

    _fields_ = (("dimensions", ctypes.c_int), ("grid", ctypes.c_int * 4), ("positions", ctypes.POINTER(ctypes.c_int)), ("moved", ctypes.c_int),
                ("members", ctypes.c_int), ("note", ctypes.c_char_p))


class MemberFacts(ctypes.Structure):
    """phl_member."""

    _fields_ = (("name", ctypes.c_char_p), ("reason", ctypes.c_char_p), ("seconds", ctypes.c_double), ("levels", ctypes.c_int), ("scores", CScores))


@dataclass(frozen=True)
class Member:
    """A member of the portfolio: scores by level and, with parameters, predicted time; or why it does not apply."""

    name: str
    scores: dict[str, Score]
    reason: str
    seconds: float | None = None


@dataclass(frozen=True)
class NodeMessages:
    """Messages and bytes out of nodes: total, and those of the nodes with the most messages or bytes. `bytes` is None if the cells shared by ranks of
    a node are unknown.
    """

    messages: int
    bytes: int | None
    busiest_messages: int
    busiest_bytes: int | None


@dataclass(frozen=True)
class BetweenNodes:
    """`pairwise`: from rank to rank. `aggregated`: one message per pair of nodes, each cell once (transport node_aware)."""

    pairwise: NodeMessages
    aggregated: NodeMessages

    @classmethod
    def of(cls, pairs: np.ndarray) -> BetweenNodes:
        """Totals over pairs of nodes (NODE_PAIR)."""
        names = ("pairs", "bytes_in_pairs", "messages", "bytes")
        # Integers, because bincount rounds weights.
        by_node = np.zeros((4, int(pairs["from"].max(initial=0)) + 1), np.int64)
        for sums, name in zip(by_node, names, strict=True):
            np.add.at(sums, pairs["from"], pairs[name])
        known = [bool((pairs[name] >= 0).all()) for name in names]
        total, most = ([int(found(sums)) if known else -1 for sums, known in zip(by_node, known, strict=True)] for found in (np.sum, np.max))
        return cls.from_library([*total[:2], *most[:2], *total[2:], *most[2:]])

    @classmethod
    def from_library(cls, values: Iterable[int]) -> BetweenNodes:
        """Convert eight numbers of the library; negative bytes are unknown."""
        numbers = list(values)
        return cls(*(NodeMessages(count, None if size < 0 else size, most, None if largest < 0 else largest)
                     for count, size, most, largest in (numbers[:4], numbers[4:])))


class Placement:
    """A placement of a process grid, from `place` or `place_by_hand`."""

    def __init__(self, machine: Machine, stencil: Stencil, periodic: list[bool], timed: bool, function: str, *arguments: object) -> None:
        self._handle = made(self, "placement", function, *arguments)
        self.machine, self.stencil, self.periodic, self._timed = machine, stencil, periodic, timed
        self._facts = described(PlacementFacts, "phl_placement_describe", self)
        self.grid: tuple[int, ...] = tuple(self._facts.grid[: self._facts.dimensions])
        self.note: str = self._facts.note.decode()
        self.moved_points: int = self._facts.moved  # by the local search
        own = self._member(-1)
        self.name, self.seconds = own.name, own.seconds  # predicted time, None without parameters

    def position(self, point: Sequence[int]) -> int:
        """Position of a grid point's rank in the machine's hierarchical order."""
        if any(not 0 <= at < extent for at, extent in zip(point, self.grid, strict=True)):
            raise PlacementError(f"the point {tuple(point)} is outside the process grid {self.grid}")
        return int(self.positions[tuple(point)])

    def point(self, position: int) -> tuple[int, ...]:
        """Grid point of the rank at a position."""
        if not 0 <= position < self.machine.size:
            raise PlacementError(f"position {position} is not one of the machine's {self.machine.size} ranks")
        return tuple(int(along) for along in np.unravel_index(self._points[position], self.grid))

    @functools.cached_property
    def positions(self) -> np.ndarray:
        """Position of every grid point, in the shape of the grid."""
        return np.ctypeslib.as_array(self._facts.positions, (self.machine.size,)).reshape(self.grid).copy()

    @functools.cached_property
    def _points(self) -> np.ndarray:
        return np.argsort(self.positions, axis=None)

    def units(self, level: str, within_node: bool = False) -> np.ndarray:
        """Unit of every grid point at a level, in the shape of the grid."""
        return self.machine.units_at(level, self.positions, within_node)

    @functools.cached_property
    def scores(self) -> dict[str, Score]:
        """Scores by level, outermost first."""
        scores = CScores()
        call("phl_placement_scores", self, self.stencil.for_c(cells=False), scores)
        return by_level(self.machine.levels, scores)

    def node_pairs(self, blocked: bool = False) -> np.ndarray:
        """Messages and bytes between nodes (NODE_PAIR), pairwise and aggregated; or in blocked order."""
        nodes = self.units("node")
        return node_pairs(np.sort(nodes, axis=None).reshape(self.grid) if blocked else nodes, self.stencil, self.periodic)

    @property
    def between_nodes(self) -> BetweenNodes:
        """Totals over all nodes, and the busiest."""
        return BetweenNodes.of(self.node_pairs())

    @functools.cached_property
    def members(self) -> list[Member]:
        """The portfolio of the automatic choice; empty for a placement by hand."""
        return [self._member(index) for index in range(self._facts.members)]

    @property
    def by_name(self) -> bool:
        """Whether the placement is by hand or by a requested method."""
        return self.name == "by_hand" or len(self.members) == 1

    def _member(self, index: int) -> Member:
        facts = described(MemberFacts, "phl_placement_member", self, index)
        reason = facts.reason.decode()
        scores = by_level(self.machine.levels[: facts.levels], facts.scores)
        return Member(facts.name.decode(), scores, reason, facts.seconds if self._timed and not reason else None)


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
    """Improve the best placement of a portfolio by local search; never worse than any member.

    `objective`: ``jsum`` or ``jmax``; both count the stencil's bytes, level by level from the node inwards. `method` takes one member as it is
    (``blocked``, …). `parameters` minimizes the predicted time with aggregation between nodes; it needs a stencil `with_halo`. Local and
    deterministic. Raises PlacementError.
    """
    stencil, wraps = as_stencil(stencil, len(grid)), each_periodic(periodic, len(grid))
    if parameters and not stencil.cells:
        raise PlacementError("the time of an exchange depends on its cells: give cells and halo width, by Stencil.with_halo or --extent")
    costs = ctypes.byref(parameters.c_costs()) if parameters else None
    return Placement(machine, stencil, wraps, parameters is not None, "phl_place", machine, c_grid(grid, wraps),
                     stencil.for_c(cells=parameters is not None), objective_of(objective), refine, method, costs)


def place_by_hand(
    machine: Machine,
    blocks: Mapping[str, Sequence[int]],
    numbering: str = "",
    stencil: Stencil | str = "faces",
    periodic: bool | Sequence[bool] = False,
) -> Placement:
    """Place by blocks, level by level, as published: ``{"core": (4, 1, 1), "l3": (1, 2, 2), …, "node": (16, 8, 8)}``.

    A level's block arranges its units in the unit around them. Raises PlacementError if the blocks do not fit the machine.
    """
    if not blocks:
        raise PlacementError("no blocks are given: say how the units of each level are arranged, such as node:3x3x3")
    dimensions = len(next(iter(blocks.values())))
    if any(len(block) != dimensions for block in blocks.values()):
        raise PlacementError(f"blocks {dict(blocks)} have different numbers of dimensions: give the same number for every level")
    wraps, flat = each_periodic(periodic, dimensions), integers(extent for block in blocks.values() for extent in block)
    return Placement(machine, as_stencil(stencil, dimensions), wraps, False,
                     "phl_place_by_hand", machine, dimensions, " ".join(blocks), flat, integers(wraps), numbering)


def choose_grid(
    machine: Machine,
    cells: Sequence[int],
    stencil: Stencil | str = "faces",
    halo: int = 1,
    bytes_per_cell: int = 8,
    periodic: bool | Sequence[bool] = False,
    objective: str = "jsum",
) -> tuple[tuple[int, ...], Stencil]:
    """Choose the process grid for all ranks that keeps the most halo bytes inside nodes.

    Returns the grid and the stencil with its halo bytes.
    """
    stencil = replace(as_stencil(stencil, len(cells)), halo=halo, bytes_per_cell=bytes_per_cell)
    grid, sizes = integers(cells), long_integers(stencil.bytes)
    call("phl_choose_grid", machine, len(cells), long_integers(cells), stencil.for_c(cells=False),
         integers(each_periodic(periodic, len(cells))), objective_of(objective), grid, sizes)
    largest = tuple(-(-cell // ranks) for cell, ranks in zip(cells, grid, strict=True))
    return tuple(grid), Stencil(stencil.offsets, tuple(sizes), largest, halo, bytes_per_cell)


def node_pairs(nodes: np.ndarray, stencil: Stencil, periodic: Sequence[bool]) -> np.ndarray:
    """Pairs of nodes that communicate (NODE_PAIR), if `nodes` holds the node of every grid point. Exact if all ranks have `stencil.cells` cells. Local;
    linear in grid points.
    """
    case = c_grid(nodes.shape, each_periodic(periodic, nodes.ndim)), integers(nodes.ravel()), as_stencil(stencil, nodes.ndim).for_c()
    count, pairs = ctypes.c_int(), np.empty(0, NODE_PAIR)
    for _ in range(2):  # the first call returns their number
        pairs = np.empty(count.value, NODE_PAIR)
        call("phl_node_pairs", *case, len(pairs), ctypes.byref(count), pairs.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)))
    return pairs


def as_stencil(stencil: Stencil | str, dimensions: int) -> Stencil:
    if isinstance(stencil, str):
        return Stencil.parse(stencil, dimensions)
    if other := [offset for offset in stencil.offsets if len(offset) != dimensions]:
        raise PlacementError(f"stencil offset {other[0]} has {len(other[0])} entries, but the process grid has {dimensions} dimensions: give one for each")
    return stencil


def each_periodic(periodic: bool | Sequence[bool], dimensions: int) -> list[bool]:
    """One entry per dimension."""
    wraps = [periodic] * dimensions if isinstance(periodic, bool) else list(periodic)
    if len(wraps) != dimensions:
        raise PlacementError(f"periodicity {wraps} has {len(wraps)} entries, but the process grid has {dimensions} dimensions: give one, or one for each")
    return wraps


def objective_of(name: str) -> int:
    if name not in OBJECTIVES:
        raise PlacementError(f"objective '{name}' is unknown: choose from {', '.join(OBJECTIVES)}")
    return OBJECTIVES.index(name)

"""Machine, numbering of the process grid, and stencil."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.numbers import whole_number
from .library import PlacementError, c_grid, call, described, integers, made, pointer_to, received

BINDINGS = ("spread", "compact")
MOST_COUNT = 2**31 - 1
MOST_LEVELS = 10  # PHL_MAX_LEVELS
MOST_RANKS = 2**24  # as in placement/limits.hpp


class MachineFacts(ctypes.Structure):
    """phl_machine_facts."""

    _fields_ = (("size", ctypes.c_int), ("nodes", ctypes.c_int), ("levels", ctypes.c_int), ("level", ctypes.c_char_p * MOST_LEVELS),
                ("units", ctypes.c_int * MOST_LEVELS), ("source", ctypes.c_char_p))


class Machine:
    """A machine, with ranks in hierarchical order: positions 0, 1, … run through node 0, its first socket, that socket's first core, …

    `topology`: a description such as ``node:27 pack:2 numa:4 l3:4 core:4``, ``xml:FILE`` for a node from hwloc, or ``here`` for nodes like this one
    (both need `nodes`). `ranks_per_node`: one number or one per node; by default one rank per core. `binding`: ``spread`` (evenly over a node's
    parts) or ``compact`` (cores in order). Raises PlacementError.
    """

    def __init__(self, topology: str, nodes: int | None = None, ranks_per_node: int | Sequence[int] | None = None, binding: str = "spread") -> None:
        if binding not in BINDINGS:
            raise PlacementError(f"binding '{binding}' is unknown: choose from {', '.join(BINDINGS)}")
        if ranks_per_node is None:
            ranks_per_node = parts_of_a_node(topology)
        ranks = [ranks_per_node] if isinstance(ranks_per_node, int) else list(ranks_per_node)
        self._handle = made(self, "machine", "phl_machine_create", topology, nodes or 0, len(ranks), integers(ranks), binding == "compact")
        self.topology = topology
        facts = described(MachineFacts, "phl_machine_describe", self)
        self.size, self.nodes, self.source = facts.size, facts.nodes, facts.source.decode()
        self.levels: list[str] = [name.decode() for name in facts.level[: facts.levels]]
        self._units = facts.units[: facts.levels]

    def units(self, level: str) -> int:
        """Number of units of a level in the machine."""
        return self._units[self.level(level)]

    def unit(self, level: str, position: int, within_node: bool = False) -> int:
        """Unit of the rank at a position, counted over the machine or within its node. Raises PlacementError for an invalid position."""
        return received(1, "phl_machine_units", self, self.level(level), within_node, 1, integers([position]))[0]

    def units_at(self, level: str, positions: np.ndarray, within_node: bool = False) -> np.ndarray:
        """Units at many positions, in their shape."""
        units = np.array(positions, np.int32)
        call("phl_machine_units", self, self.level(level), within_node, units.size, pointer_to(units), pointer_to(units))
        return units

    def level(self, name: str) -> int:
        """Index of a level; 0 is the node. Raises PlacementError for an unknown level."""
        if name not in self.levels:
            raise PlacementError(f"the machine has no level '{name}': it has {', '.join(self.levels)}")
        return self.levels.index(name)


def parts_of_a_node(topology: str) -> int:
    """Cores per node of a topology: the product of the counts inside the node."""
    if ":" not in topology or topology.startswith("xml:"):
        raise PlacementError(f"topology '{topology}' does not say how many ranks a node has: give ranks per node")
    counts = []
    for token in topology.split()[1:]:
        try:
            counts.append(whole_number(token.rpartition(":")[2], 1, MOST_COUNT))
        except ValueError as error:
            raise PlacementError(f"topology '{topology}': the count of '{token}': {error}") from None
    return math.prod(counts)


@dataclass(frozen=True)
class Numbering:
    """Order of dimensions, fastest first: ``XYZ`` as published for hwcart; empty: last dimension fastest, as in MPI_Cart and CartesianDomain
    (``ZYX`` in three dimensions).
    """

    grid: tuple[int, ...]
    name: str = ""

    @functools.cached_property
    def strides(self) -> tuple[int, ...]:
        """Stride of the rank number along each dimension."""
        return received(len(self.grid), "phl_numbering", c_grid(self.grid), self.name)

    def rank(self, point: Sequence[int]) -> int:
        """Rank at a grid point."""
        if any(not 0 <= at < extent for at, extent in zip(point, self.grid, strict=True)):
            raise PlacementError(f"the point {tuple(point)} is outside the process grid {self.grid}")
        return sum(at * stride for at, stride in zip(point, self.strides, strict=True))

    def coords(self, rank: int) -> tuple[int, ...]:
        """Grid point of a rank."""
        if not 0 <= rank < math.prod(self.grid):
            raise PlacementError(f"rank {rank} does not exist: the process grid {self.grid} has {math.prod(self.grid)}")
        return tuple(int(rank) // stride % extent for stride, extent in zip(self.strides, self.grid, strict=True))

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """Values of the grid points, in rank order."""
        return values.ravel()[np.argsort(self.ranks().ravel())]

    def ranks(self) -> np.ndarray:
        """Rank at every grid point, in the shape of the grid."""
        ranks = np.zeros(self.grid, np.int32)
        for along, stride in zip(np.indices(self.grid, np.int32, sparse=True), self.strides, strict=True):
            ranks += along * stride
        return ranks

"""Placement of parts with any communication graph: partitioned meshes, index maps."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..base.handles import handle_of
from .library import PlacementError, call, integers, long_integers, pointer_to, received
from .machine import Machine
from .placement import Member, Score, objective_of

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class GraphPlacement:
    """Position of every part in the machine's hierarchical order, the method, and a note on missing software."""

    machine: Machine
    positions: np.ndarray
    name: str
    edges: Sequence[Mapping[int, int]]
    note: str = ""
    # Like those of a `Placement` without a portfolio.
    members: ClassVar[tuple[Member, ...]] = ()
    by_name: ClassVar[bool] = False
    moved_points: ClassVar[int] = 0

    @property
    def grid(self) -> tuple[int]:
        """(number of parts,)."""
        return (self.machine.size,)

    def units(self, level: str, within_node: bool = False) -> np.ndarray:
        """Unit of every part at a level, counted over the machine or within its node."""
        return self.machine.units_at(level, self.positions, within_node)

    @functools.cached_property
    def directed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges as senders, receivers and bytes."""
        edges = [(part, target, size) for part, sent in enumerate(self.edges) for target, size in sent.items()]
        senders, receivers, sizes = np.array(edges, np.int64).reshape(-1, 3).T
        return senders, receivers, sizes

    @functools.cached_property
    def scores(self) -> dict[str, Score]:
        """Scores by level, outermost first."""
        return {level: _score(self.units(level), *self.directed) for level in self.machine.levels}

    def in_order(self) -> GraphPlacement:
        """Parts in order on the machine, as launchers place them."""
        return replace(self, positions=np.arange(self.machine.size), name="blocked", note="")


def _score(units: np.ndarray, senders: np.ndarray, receivers: np.ndarray, sizes: np.ndarray) -> Score:
    leaves = units[senders] != units[receivers]
    homes = units[senders][leaves]
    edges, volume = np.bincount(homes, minlength=1), np.bincount(homes, sizes[leaves], 1).astype(int)
    return Score(int(edges.sum()), int(edges.max()), int(volume.sum()), int(volume.max()))


def place_graph(machine: Machine, edges: Sequence[Mapping[int, int]], objective: str = "jsum") -> GraphPlacement:
    """Place parts on the machine; ``edges[p]`` holds the bytes from part p to each other part.

    Partitions level by level: several cuts by METIS, if installed, each improved by local search; the best is kept. Never worse than the parts in
    order. Local; raises PlacementError.
    """
    made = GraphPlacement(machine, np.arange(machine.size), "blocked", edges)
    _, targets, sizes = made.directed
    positions, told = np.empty(machine.size, np.int32), ctypes.c_char_p()
    call("phl_place_graph", machine, len(edges), integers(np.cumsum([0, *map(len, edges)])), integers(targets), long_integers(sizes),
         objective_of(objective), pointer_to(positions), ctypes.byref(told))
    name, _, note = (told.value or b"").decode().partition("; ")
    return replace(made, positions=positions, name=name, note=note)


def place_parts(comm: MPI.Comm, edges: Mapping[int, int], objective: str = "jsum", node_color: int = -1) -> MPI.Comm:
    """Create a communicator in which rank r should own part r. Collective.

    `edges` holds the bytes from this rank's part to each other rank. The caller frees the communicator. Raises PlacementError on every rank.
    """
    from mpi4py import MPI

    if any(not isinstance(rank, int) for rank in edges):
        raise PlacementError("edges map ranks to bytes")
    return MPI.Comm.f2py(*received(1, "phl_place_parts", handle_of(comm), len(edges), integers(edges), long_integers(edges.values()),
                                   objective_of(objective), int(node_color)))

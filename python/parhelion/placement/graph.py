"""Placement of parts that exchange along any graph: partitioned meshes, index maps."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._handles import handle_of
from .errors import PlacementError
from .library import check, integers, library, long_integers, text
from .machine import Machine
from .methods import _objective

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True)
class GraphPlacement:
    """The position of every part in the machine's hierarchical order, and how it was found."""

    machine: Machine
    positions: np.ndarray
    chosen: str

    def units(self, level: str) -> np.ndarray:
        """The unit of every part at a level."""
        return np.array([self.machine.unit(level, position) for position in self.positions])


def place_graph(machine: Machine, edges: Sequence[Mapping[int, int]], objective: str = "jsum") -> GraphPlacement:
    """Put parts onto the machine; ``edges[p]`` holds the bytes that part p sends to each other part.

    METIS cuts the graph level by level where it is installed; local search improves that. Never worse than the parts
    in order. Local; raises PlacementError.
    """
    starts = np.cumsum([0, *map(len, edges)])
    targets = [target for sent in edges for target in sent]
    sizes = [size for sent in edges for size in sent.values()]
    positions = integers(range(machine.size))
    check(
        library().phl_place_graph(
            machine._handle, len(edges), integers(starts), integers(targets), long_integers(sizes),
            _objective(objective), positions,
        )
    )  # fmt: skip
    return GraphPlacement(machine, np.array(positions[: machine.size]), text("phl_place_text"))


def place_parts(
    comm: MPI.Comm, edges: Mapping[int, int], objective: str = "jsum", node_color: int = -1
) -> MPI.Comm:
    """Collective. A communicator in which rank r is the process that should own part r from now on.

    `edges` holds the bytes that this rank's part sends to each other rank. The caller frees what it gets. Raises
    PlacementError on every rank.
    """
    from mpi4py import MPI

    if any(not isinstance(rank, int) for rank in edges):
        raise PlacementError("edges map ranks to bytes")
    placed = ctypes.c_int()
    check(
        library().phl_place_parts(
            handle_of(comm), len(edges), integers(edges), long_integers(edges.values()), _objective(objective),
            int(node_color), ctypes.byref(placed),
        )
    )  # fmt: skip
    return MPI.Comm.f2py(placed.value)

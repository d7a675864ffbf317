"""`parhelion place --graph`: parts of a mesh onto a machine."""

import importlib.util
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..placement import GraphPlacement, Score, place_graph
from ..cli.errors import BadInput
from ..mesh.errors import IndexMapError
from .graphs import PartGraph, between_document, pairs_of_graph, read_graph
from .document import SCHEMA, by_level
from .request import find_machine

GRIDS_ALONE = ("grid", "cells", "blocks", "method", "numbering", "offsets", "weights", "extent", "picture", "parameters")


@dataclass(frozen=True)
class PlacedParts:
    """The placement, what goes between nodes then and with parts in order, and how long it took."""

    placement: GraphPlacement
    blocked: dict[str, Score]
    node_pairs: np.ndarray
    node_pairs_blocked: np.ndarray
    seconds: float

    def document(self, path: Path, objective: str) -> dict[str, Any]:
        """As for grids; `node_of_rank` is the node of every part."""
        placement = self.placement
        return {
            "schema": SCHEMA,
            "graph": str(path),
            "parts": placement.machine.size,
            "node_of_rank": placement.units("node").tolist(),
            "scores": {"automatic": by_level(placement.scores), "blocked": by_level(self.blocked)},
            **between_document("automatic", self.node_pairs, self.node_pairs_blocked),
            "chosen": placement.chosen,
            "objective": objective,
            "levels": list(placement.machine.levels),
            "units": {level: placement.machine.units(level) for level in placement.machine.levels},
            "notes": [placement.note] if placement.note else [],
            "seconds": self.seconds,
            "topology": placement.machine.topology,
            "topology_source": placement.machine.source,
        }


def place_parts_of(path: Path, options: dict[str, Any]) -> PlacedParts:
    """Raises BadInput or PlacementError."""
    if others := [f"--{name.replace('_', '-')}" for name in GRIDS_ALONE if options[name]]:
        raise BadInput(f"--graph gives parts, not a grid: leave out {', '.join(others)}")
    try:
        graph = read_graph(path, options["bytes_per_cell"])
    except IndexMapError as error:
        raise BadInput(str(error)) from None
    machine = find_machine({**options, "grid": (len(graph.edges),)})
    if machine.size != len(graph.edges):
        raise BadInput(f"{path} has {len(graph.edges)} parts, the machine {machine.size} ranks: make them agree, such as with --ranks-per-node")
    find_metis()
    start = time.perf_counter()
    placement = place_graph(machine, graph.edges, options["objective"])
    seconds = time.perf_counter() - start
    in_order = placement.in_order()
    return PlacedParts(placement, in_order.scores, _node_pairs(graph, placement), _node_pairs(graph, in_order), seconds)


def _node_pairs(graph: PartGraph, placement: GraphPlacement) -> np.ndarray:
    return pairs_of_graph(graph, placement.units("node"), placement.machine.nodes)


def find_metis() -> None:
    """The METIS in pymetis, with which meshes are partitioned, serves where the system has none that the library would load."""
    found = importlib.util.find_spec("pymetis._internal")
    if found and found.origin and not _system_metis():
        os.environ.setdefault("PARHELION_METIS", found.origin)


def _system_metis() -> bool:
    import ctypes.util

    return ctypes.util.find_library("metis") is not None

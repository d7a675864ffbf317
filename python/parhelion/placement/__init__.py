"""Placement of the process grid on the machine, and its scores. Rank files and the cost model are in `parhelion.place`.

>>> machine = Machine("node:27 pack:2 numa:4 l3:4 core:4", ranks_per_node=64)
>>> placement = place((12, 12, 12), machine, periodic=True)
>>> placement.scores["node"].jsum, placement.units("node").shape
(2592, (12, 12, 12))
"""

from .comm import PlacedComm
from .graph import GraphPlacement, place_graph, place_parts
from .land import LandGrid, land_grid, land_grids
from .library import PlacementError, library
from .machine import Machine, Numbering
from .parameters import Parameters, read_parameters, write_parameters
from .placement import BetweenNodes, Member, NodeMessages, Placement, Score, choose_grid, node_pairs, place, place_by_hand
from .stencil import Stencil

__all__ = [
    "BetweenNodes", "GraphPlacement", "LandGrid", "Machine", "Member", "NodeMessages", "Numbering", "Parameters", "PlacedComm",
    "Placement", "PlacementError", "Score", "Stencil", "choose_grid", "land_grid", "land_grids", "library", "node_pairs", "place",
    "place_by_hand", "place_graph", "place_parts", "read_parameters", "write_parameters",
]

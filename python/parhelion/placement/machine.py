"""The machine: how ranks fall into nodes, sockets, NUMA domains, caches and cores."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence

from ..base.numbers import whole_number
from .library import PlacementError, check, integers, library, text

BINDINGS = ("spread", "compact")
MOST_COUNT = 2**31 - 1
MOST_RANKS = 2**24  # most_ranks in placement/limits.hpp


class Machine:
    """Ranks in hierarchical order: positions 0, 1, … run through node 0, its first socket, that one's first core, …

    `topology` is a description such as ``node:27 pack:2 numa:4 l3:4 core:4``, ``xml:FILE`` for a node that hwloc
    described, or ``here`` for nodes like this one (both need `nodes`). `ranks_per_node` is one number or one per node;
    without it every core gets a rank. `binding` is ``spread`` (evenly over a node's parts) or ``compact`` (cores in
    order). Raises PlacementError.
    """

    def __init__(
        self,
        topology: str,
        nodes: int | None = None,
        ranks_per_node: int | Sequence[int] | None = None,
        binding: str = "spread",
    ) -> None:
        if binding not in BINDINGS:
            raise PlacementError(f"binding '{binding}' is unknown: choose from {', '.join(BINDINGS)}")
        if ranks_per_node is None:
            ranks_per_node = parts_of_a_node(topology)
        ranks = [ranks_per_node] if isinstance(ranks_per_node, int) else list(ranks_per_node)
        self._handle = ctypes.c_void_p()
        check(library().phl_machine_create(
            topology.encode(), integers([nodes or 0])[0], len(ranks), integers(ranks), int(binding == "compact"),
            ctypes.byref(self._handle)))
        weakref.finalize(self, library().phl_machine_free, self._handle)
        self.topology = topology
        self.size: int = library().phl_machine_size(self._handle)
        self.nodes: int = library().phl_machine_nodes(self._handle)
        levels = range(library().phl_machine_levels(self._handle))
        self.levels: list[str] = [text("phl_machine_level", self._handle, level) for level in levels]
        self.source: str = text("phl_machine_source", self._handle)

    def units(self, level: str) -> int:
        """How many units of a level the whole machine has."""
        return library().phl_machine_units(self._handle, self.level(level))

    def unit(self, level: str, position: int, within_node: bool = False) -> int:
        """The unit of the rank at a position, counted over the whole machine or within its node. Raises PlacementError for a position that
        it lacks."""
        count = library().phl_machine_unit_in_node if within_node else library().phl_machine_unit
        unit = count(self._handle, self.level(level), integers([position])[0])
        check(unit < 0)
        return unit

    def level(self, name: str) -> int:
        """The index of a level, 0 being the node. Raises PlacementError where the machine has no such level."""
        if name not in self.levels:
            raise PlacementError(f"the machine has no level '{name}': it has {', '.join(self.levels)}")
        return self.levels.index(name)


def parts_of_a_node(topology: str) -> int:
    """Cores of one node of a description: the product of the counts inside the node."""
    if ":" not in topology or topology.startswith("xml:"):
        raise PlacementError(f"topology '{topology}' does not say how many ranks a node has: give ranks per node")
    product = 1
    for token in topology.split()[1:]:
        try:
            product *= whole_number(token.rpartition(":")[2], 1, MOST_COUNT)
        except ValueError as error:
            raise PlacementError(f"topology '{topology}': the count of '{token}': {error}") from None
    return product

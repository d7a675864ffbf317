"""Patterns: the cells to send and receive."""

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..base.handles import not_pickled
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain

Cells = np.ndarray | list[tuple[int, tuple[slice, ...]]]


class Link(NamedTuple):
    """Cells that this rank and a neighbor (possibly itself) exchange in a forward exchange, in message order.

    Indexed: local indices of owned cells (`send`) and of ghosts (`receive`), int32. Cartesian: (block, global cells) pairs; ghosts continue past
    a periodic end. `receive` lists all ghosts of a global cell; the message holds it once.
    """

    rank: int
    send: Cells
    receive: Cells


class Pattern:
    """The cells that each rank sends to and receives from each neighbor; exchanges can share it.

    `build_pattern` constructs it. `print(pattern)` shows this rank's part.
    """

    __reduce__ = not_pickled

    def __init__(self, native: "_core.Pattern") -> None:
        self._native = native

    @property
    def dimensions(self) -> int:
        """Dimensions of the grid; 0 for an indexed domain."""
        return self._native.dimensions

    @property
    def neighbor_ranks(self) -> list[int]:
        """Other ranks with which this rank exchanges, ascending."""
        return self._native.neighbor_ranks()

    @property
    def cells_sent(self) -> int:
        """Cells that this rank sends to others in a forward exchange."""
        return self._native.cells_sent()

    def stages(self) -> list[list[Link]]:
        """Links of each stage, in ascending order of rank; a standard pattern has one stage. Local; copies."""
        return [[Link(rank, self._cells(*send), self._cells(*receive)) for rank, send, receive in stage] for stage in self._native.stages()]

    def _cells(self, boxes: Any, numbers: np.ndarray) -> Cells:
        return [(block, tuple(map(slice, *box))[: self.dimensions]) for block, box in boxes] if self.dimensions else numbers

    def __str__(self) -> str:
        return self._native.describe()

    def __repr__(self) -> str:
        return f"<Pattern: {str(self).splitlines()[0]}>"


def build_pattern(domain: CartesianDomain | IndexedDomain) -> Pattern:
    """Pattern of a domain. Collective for an indexed domain (owners learn their cells' readers), else local."""
    return pattern_of(domain)


def pattern_of(domain: CartesianDomain | IndexedDomain, timeout_s: float = 0) -> Pattern:
    """`build_pattern` within a time limit."""
    if not isinstance(domain, (CartesianDomain, IndexedDomain)):
        raise TypeError(f"a {type(domain).__name__} has no pattern: pass a CartesianDomain or an IndexedDomain")
    if isinstance(domain, IndexedDomain):
        domain._place()  # raises for maps with places
        if domain._is_subset:
            raise ValueError("the map is a subset, and its mask would be ignored: use the original map")
        return Pattern(_core.build_pattern(domain._native, timeout_s))
    return Pattern(_core.build_pattern(domain._native))

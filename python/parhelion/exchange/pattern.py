"""Per neighbor, what is sent and what is received."""

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..base.handles import not_pickled
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain

Cells = np.ndarray | list[tuple[int, tuple[slice, ...]]]


class Link(NamedTuple):
    """What this rank and a neighbor (possibly itself) give each other in a forward exchange, in the order of the message.

    Indexed: local indices of owned cells (`send`) and of ghosts (`receive`), int32.
    Cartesian: (block, global cells) pairs; ghosts continue past a periodic end.
    Ghosts with the same global cell are all listed; in a forward exchange it travels once.
    """

    rank: int
    send: Cells
    receive: Cells


class Pattern:
    """What each rank sends to and receives from each neighbor. It holds no arrays and no types: exchanges share it.

    Made by `build_pattern`. `print(pattern)` shows this rank's part.
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
        """Ranks other than this one with which it exchanges, ascending."""
        return self._native.neighbor_ranks()

    @property
    def cells_sent(self) -> int:
        """Cells that this rank sends to others in a forward exchange."""
        return self._native.cells_sent()

    def stages(self) -> list[list[Link]]:
        """The links of each stage, in ascending order of rank; a standard pattern has one stage. Local; copies."""
        return [[self._link(*link) for link in stage] for stage in self._native.stages()]

    def verify(self) -> None:
        """Compares each link with the neighbor's view of it. Collective.

        Raises ValueError on every rank when a link has no partner there or the two sides differ.
        """
        self._native.verify()

    def _link(self, rank: int, send: Any, receive: Any) -> Link:
        if self.dimensions == 0:
            return Link(rank, send, receive)
        return Link(rank, _slices(send), _slices(receive))

    def __str__(self) -> str:
        return self._native.describe()

    def __repr__(self) -> str:
        return f"<Pattern: {str(self).splitlines()[0]}>"


def build_pattern(domain: CartesianDomain | IndexedDomain) -> Pattern:
    """The pattern of a domain. Collective for an indexed domain (owners learn who reads their cells), else local."""
    if not isinstance(domain, (CartesianDomain, IndexedDomain)):
        raise TypeError(f"a {type(domain).__name__} has no pattern: pass a CartesianDomain or an IndexedDomain")
    if isinstance(domain, IndexedDomain):
        domain._place()  # raises for maps with places
    return Pattern(_core.build_pattern(domain._native))


def _slices(boxes: list[Any]) -> list[tuple[int, tuple[slice, ...]]]:
    return [(block, tuple(map(slice, *box))) for block, box in boxes]

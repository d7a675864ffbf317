"""What goes from node to node in one exchange, rank by rank and where each node's is collected."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .library import check, integers, library, long_integers

if TYPE_CHECKING:
    from .stencil import Stencil

# Messages and bytes from rank to rank, then those of the transport node_aware; bytes are -1 where cells are not known.
NODE_PAIR = np.dtype([(name, np.int64) for name in ("from", "to", "pairs", "bytes_in_pairs", "messages", "bytes")])


@dataclass(frozen=True)
class NodeMessages:
    """Messages and bytes that nodes send, of all and of those that send the most messages or bytes. `bytes` is None where it is not known which
    cells several ranks of a node share."""

    messages: int
    bytes: int | None
    busiest_messages: int
    busiest_bytes: int | None


@dataclass(frozen=True)
class BetweenNodes:
    """`pairwise`: from rank to rank. `aggregated`: what a node owes another is collected, with each cell once (transport node_aware)."""

    pairwise: NodeMessages
    aggregated: NodeMessages

    @classmethod
    def of(cls, pairs: np.ndarray) -> BetweenNodes:
        """Over pairs of nodes (NODE_PAIR)."""
        return cls(_sum(pairs, "pairs", "bytes_in_pairs"), _sum(pairs, "messages", "bytes"))

    @classmethod
    def from_library(cls, values: Iterable[int]) -> BetweenNodes:
        """From eight numbers."""
        numbers = list(values)
        told = [NodeMessages(count, None if size < 0 else size, most, None if largest < 0 else largest)
                for count, size, most, largest in (numbers[:4], numbers[4:])]
        return cls(*told)


def node_pairs(nodes: np.ndarray, stencil: Stencil, periodic: Sequence[bool]) -> np.ndarray:
    """All pairs of nodes of which one sends to the other (NODE_PAIR), where `nodes` has the node of every grid point. Exact, if all ranks have
    `stencil.cells` cells. Local; looks at every grid point."""
    count, pairs = ctypes.c_int(), np.empty(0, NODE_PAIR)
    where = nodes.ndim, integers(nodes.shape), integers(periodic), integers(nodes.ravel())
    what = (len(stencil.offsets), stencil.steps(), long_integers(stencil.bytes), (stencil.cells and long_integers(stencil.cells)) or None,
            stencil.halo, stencil.bytes_per_cell)
    for _ in range(2):  # the first call tells how many there are
        pairs = np.empty(count.value, NODE_PAIR)
        found = pairs.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
        check(library().phl_node_pairs(*where, *what, len(pairs), ctypes.byref(count), found))
    return pairs


def _sum(pairs: np.ndarray, messages: str, sizes: str) -> NodeMessages:
    if not len(pairs):
        return NodeMessages(0, 0, 0, 0)
    # Whole numbers: weights of bincount would be rounded.
    by_node = np.zeros((2, int(pairs["from"].max()) + 1), np.int64)
    np.add.at(by_node[0], pairs["from"], pairs[messages])
    np.add.at(by_node[1], pairs["from"], pairs[sizes])
    (count, size), (most, largest) = by_node.sum(1).tolist(), by_node.max(1).tolist()
    known = bool((pairs[sizes] >= 0).all())
    return NodeMessages(count, size if known else None, most, largest if known else None)

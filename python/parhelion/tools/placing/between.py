"""What goes between nodes: message by message, and when nodes send each other what they owe at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..partitioning.maps.maps import IndexMaps
from .graphs import PartGraph, arrays_of


@dataclass(frozen=True)
class Traffic:
    """Of one exchange: messages and bytes between nodes, of all nodes and of the one that sends most. `bytes` is None where it is not
    known which cells several parts of a node share."""

    messages: int
    bytes: int | None
    busiest_messages: int
    busiest_bytes: int | None


@dataclass(frozen=True)
class Between:
    """`pairwise`: every pair of parts has a message. `aggregated`: every pair of nodes has one, with each cell once."""

    pairwise: Traffic
    aggregated: Traffic

    def document(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        return f"Between nodes: {_words(self.pairwise)}; one message per pair of nodes, each cell once: {_words(self.aggregated)}"


def _words(traffic: Traffic) -> str:
    told = f"{traffic.messages:,} messages" + ("" if traffic.bytes is None else f" and {traffic.bytes:,} bytes")
    most = f"{traffic.busiest_messages:,}" + ("" if traffic.busiest_bytes is None else f" and {traffic.busiest_bytes:,}")
    return f"{told} (of the busiest node {most})"


def between(graph: PartGraph, nodes: np.ndarray, count: int) -> Between:
    """`nodes` is the node of every part, of `count` nodes."""
    senders, receivers, sizes = arrays_of(graph.edges)
    leaves = nodes[senders] != nodes[receivers]
    home, away, sizes = nodes[senders][leaves], nodes[receivers][leaves], sizes[leaves]
    pairs = np.unique(home * count + away) // count
    once = None if graph.maps is None else _distinct(graph.maps, nodes, count) * graph.bytes_per_cell
    return Between(_traffic(np.bincount(home, minlength=count), np.bincount(home, sizes, count).astype(np.int64)),
                   _traffic(np.bincount(pairs, minlength=count), once))  # fmt: skip


def _traffic(messages: np.ndarray, sizes: np.ndarray | None) -> Traffic:
    if sizes is None:
        return Traffic(int(messages.sum()), None, int(messages.max()), None)
    return Traffic(int(messages.sum()), int(sizes.sum()), int(messages.max()), int(sizes.max()))


def _distinct(maps: IndexMaps, nodes: np.ndarray, count: int) -> np.ndarray:
    """By node, the cells that it sends: once to each other node that reads them."""
    wanted = np.unique(np.concatenate([ids * count + nodes[reader] for reader, ids in enumerate(maps.ghosts)]))
    home = nodes[maps.owner_of(wanted // count)]
    return np.bincount(home[home != wanted % count], minlength=count)

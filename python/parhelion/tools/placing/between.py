"""What goes between nodes: in words, in the document, and of parts of a mesh."""

import ctypes
from dataclasses import asdict
from typing import Any

import numpy as np

from ...placement.between import NODE_PAIR, BetweenNodes, NodeMessages
from ...placement.library import library
from ..partitioning.maps.maps import IndexMaps
from .graphs import PartGraph, arrays_of


def between_text(pairs: np.ndarray) -> str:
    """One line."""
    between = BetweenNodes.of(pairs)
    return f"Between nodes: {_words(between.pairwise)}; collected, each cell once, in {len(pairs):,} pairs of nodes: {_words(between.aggregated)}"


def between_document(own: str, pairs: np.ndarray, blocked: np.ndarray) -> dict[str, Any]:
    """Of the placement, which is called `own`, and of blocked order; pairs of nodes of the placement alone."""
    rows = [dict(zip(NODE_PAIR.names or (), row, strict=True)) for row in pairs.tolist()]
    return {
        "between_nodes": {own: asdict(BetweenNodes.of(pairs)), "blocked": asdict(BetweenNodes.of(blocked))},
        "node_pairs": [row | {"bytes": None if row["bytes"] < 0 else row["bytes"]} for row in rows],
    }


def _words(found: NodeMessages) -> str:
    told = f"{found.messages:,} messages" + ("" if found.bytes is None else f" and {found.bytes:,} bytes")
    most = f"{found.busiest_messages:,}" + ("" if found.busiest_bytes is None else f" and {found.busiest_bytes:,}")
    return f"{told} (of the busiest node {most})"


def pairs_of_graph(graph: PartGraph, nodes: np.ndarray, count: int) -> np.ndarray:
    """All pairs of nodes of which one sends to the other (NODE_PAIR); `nodes` is the node of every part, of `count` nodes."""
    senders, receivers, sizes = arrays_of(graph.edges)
    leaves = nodes[senders] != nodes[receivers]
    senders, away, sizes = senders[leaves], nodes[receivers[leaves]], sizes[leaves]
    keys, place = np.unique(nodes[senders] * count + away, return_inverse=True)
    pairs = np.zeros(len(keys), NODE_PAIR)
    pairs["from"], pairs["to"] = np.divmod(keys, count)
    np.add.at(pairs["pairs"], place, 1)
    np.add.at(pairs["bytes_in_pairs"], place, sizes)
    parts = np.unique(np.stack([place, senders]), axis=1)[0]
    contributors = np.bincount(parts, minlength=len(keys))
    pairs["messages"], pairs["bytes"] = 1, -1
    if graph.maps is not None:
        pairs["bytes"] = np.bincount(np.searchsorted(keys, _wanted(graph.maps, nodes, count)), minlength=len(keys)) * graph.bytes_per_cell
        pairs["messages"] = [_messages(size, most) for size, most in zip(pairs["bytes"], contributors, strict=True)]
    return pairs


def _wanted(maps: IndexMaps, nodes: np.ndarray, count: int) -> np.ndarray:
    """The pair of nodes of every cell that one sends to the other."""
    wanted = np.unique(np.concatenate([ids * count + nodes[reader] for reader, ids in enumerate(maps.ghosts)]))
    home, away = nodes[maps.owner_of(wanted // count)], wanted % count
    return (home * count + away)[home != away]


def _messages(size: int, contributors: int) -> int:
    return library().phl_node_messages(*(ctypes.c_int64(int(value)) for value in (size, contributors)))

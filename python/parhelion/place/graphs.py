"""Graphs of parts that exchange, from index maps or a graph file of METIS; and what goes between nodes."""

import ctypes
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..placement.between import BetweenNodes, NODE_PAIR, NodeMessages
from ..placement.library import library
from ..cli.errors import BadInput
from ..mesh.dataset import read_index_maps
from ..mesh.maps import IndexMaps

Edges = list[dict[int, int]]


@dataclass(frozen=True)
class PartGraph:
    """`edges[p]` holds the bytes that part p sends to each other part; `maps` which cells these are, where that is known."""

    edges: Edges
    bytes_per_cell: int
    maps: IndexMaps | None = None


def read_graph(path: Path, bytes_per_cell: int) -> PartGraph:
    """A data set of `parhelion partition` (a folder), else a graph file of METIS. Raises BadInput or IndexMapError."""
    if path.is_dir() or not path.exists():
        maps = read_index_maps(path)
        return PartGraph(_edges_of_maps(maps, bytes_per_cell), bytes_per_cell, maps)
    return PartGraph(_edges_of_file(path, bytes_per_cell), bytes_per_cell)


def _edges_of_maps(maps: IndexMaps, bytes_per_cell: int) -> Edges:
    edges: Edges = [{} for _ in range(maps.ranks)]
    for reader in range(maps.ranks):
        for owner, cells in zip(*maps.sources(reader), strict=True):
            edges[int(owner)][reader] = int(cells) * bytes_per_cell
    return edges


def _edges_of_file(path: Path, bytes_per_cell: int) -> Edges:
    """Weights of edges are cells; a vertex is a part."""
    try:
        rows = [[int(word) for word in line.split()] for line in path.read_text(encoding="ascii").splitlines() if not line.startswith("%")]
    except (ValueError, UnicodeDecodeError):
        raise BadInput(f"{path} is no graph file of METIS: lines of whole numbers, the first one `vertices edges [format]`") from None
    if not rows or len(rows[0]) < 2 or rows[0][0] != len(rows) - 1:
        raise BadInput(f"{path} is no graph file of METIS: its first line tells the number of vertices and edges, and each vertex has a line")
    (vertices, count), kind = rows[0][:2], f"{rows[0][2] if len(rows[0]) > 2 else 0:03d}"
    skipped = (kind[0] == "1") + (kind[1] == "1") * (rows[0][3] if len(rows[0]) > 3 else 1)
    edges = [_neighbors(row[skipped:], kind[2] == "1", bytes_per_cell, f"{path}: line of vertex {v}", vertices) for v, row in enumerate(rows[1:], 1)]
    if sum(map(len, edges)) != 2 * count:
        raise BadInput(f"{path}: {sum(map(len, edges))} neighbors are listed for {count} edges: each edge stands at both of its ends")
    return edges


def _neighbors(words: list[int], weighted: bool, bytes_per_cell: int, where: str, vertices: int) -> dict[int, int]:
    targets, weights = (words[::2], words[1::2]) if weighted else (words, [1] * len(words))
    if len(targets) != len(weights) or any(not 1 <= target <= vertices for target in targets):
        raise BadInput(f"{where}: give neighbors from 1 to {vertices}" + (", each followed by its weight" if weighted else ""))
    if any(weight < 0 for weight in weights):
        raise BadInput(f"{where}: weights are numbers of cells, 0 or more")
    return {target - 1: weight * bytes_per_cell for target, weight in zip(targets, weights, strict=True)}


def arrays_of(edges: Edges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sender, receiver and bytes of every edge."""
    senders = np.repeat(np.arange(len(edges)), [len(sent) for sent in edges])
    receivers = np.array([target for sent in edges for target in sent], np.int64)
    return senders, receivers, np.array([size for sent in edges for size in sent.values()], np.int64)


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

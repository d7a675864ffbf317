"""Graphs of parts that exchange, from index maps or a graph file of METIS; and what goes between nodes."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..mesh.maps import IndexMaps, read_index_maps
from ..placement import PlacementError, library
from ..placement.placement import NODE_PAIR

Edges = list[dict[int, int]]


@dataclass(frozen=True)
class PartGraph:
    """`edges[p]` holds the bytes that part p sends to each other part; `maps` which cells these are, where that is known."""

    edges: Edges
    bytes_per_cell: int
    maps: IndexMaps | None = None


def read_graph(path: Path, bytes_per_cell: int) -> PartGraph:
    """A data set of `parhelion partition` (a folder), else a graph file of METIS. Raises PlacementError or IndexMapError."""
    if path.is_file():
        return PartGraph(_edges_of_file(path, bytes_per_cell), bytes_per_cell)
    maps = read_index_maps(path)
    edges: Edges = [{} for _ in range(maps.ranks)]
    for reader in range(maps.ranks):
        for owner, cells in zip(*maps.sources(reader), strict=True):
            edges[int(owner)][reader] = int(cells) * bytes_per_cell
    return PartGraph(edges, bytes_per_cell, maps)


def _edges_of_file(path: Path, bytes_per_cell: int) -> Edges:
    """Weights of edges are cells; a vertex is a part."""
    try:
        rows = [[int(word) for word in line.split()] for line in path.read_text(encoding="ascii").splitlines() if not line.startswith("%")]
    except (ValueError, UnicodeDecodeError):
        raise PlacementError(f"{path} is no graph file of METIS: lines of whole numbers, the first one `vertices edges [format]`") from None
    if not rows or len(rows[0]) < 2 or rows[0][0] != len(rows) - 1:
        raise PlacementError(f"{path} is no graph file of METIS: its first line tells the number of vertices and edges, and each vertex has a line")
    (vertices, count), kind = rows[0][:2], f"{rows[0][2] if len(rows[0]) > 2 else 0:03d}"
    skipped = (kind[0] == "1") + (kind[1] == "1") * (rows[0][3] if len(rows[0]) > 3 else 1)
    edges: Edges = []
    for vertex, row in enumerate(rows[1:], 1):
        words = row[skipped:]
        targets, weights = (words[::2], words[1::2]) if kind[2] == "1" else (words, [1] * len(words))
        if len(targets) != len(weights) or any(not 1 <= target <= vertices for target in targets):
            weighted = ", each followed by its weight" if kind[2] == "1" else ""
            raise PlacementError(f"{path}: line of vertex {vertex}: give neighbors from 1 to {vertices}{weighted}")
        if any(weight < 0 for weight in weights):
            raise PlacementError(f"{path}: line of vertex {vertex}: weights are numbers of cells, 0 or more")
        edges.append({target - 1: weight * bytes_per_cell for target, weight in zip(targets, weights, strict=True)})
    if sum(map(len, edges)) != 2 * count:
        raise PlacementError(f"{path}: {sum(map(len, edges))} neighbors are listed for {count} edges: each edge stands at both of its ends")
    return edges


def pairs_of_graph(graph: PartGraph, nodes: np.ndarray, count: int) -> np.ndarray:
    """All pairs of nodes of which one sends to the other (NODE_PAIR); `nodes` is the node of every part, of `count` nodes."""
    edges = np.array([(p, q, size) for p, sent in enumerate(graph.edges) for q, size in sent.items()], np.int64).reshape(-1, 3)
    senders, receivers, sizes = edges[nodes[edges[:, 0]] != nodes[edges[:, 1]]].T
    keys, place = np.unique(nodes[senders] * count + nodes[receivers], return_inverse=True)
    pairs = np.zeros(len(keys), NODE_PAIR)
    pairs["from"], pairs["to"] = np.divmod(keys, count)
    np.add.at(pairs["pairs"], place, 1)
    np.add.at(pairs["bytes_in_pairs"], place, sizes)
    pairs["messages"], pairs["bytes"] = 1, -1
    if graph.maps is not None:
        contributors = np.bincount(np.unique(np.stack([place, senders]), axis=1)[0], minlength=len(keys))
        pairs["bytes"] = np.bincount(np.searchsorted(keys, _wanted(graph.maps, nodes, count)), minlength=len(keys)) * graph.bytes_per_cell
        messages = library().phl_node_messages
        pairs["messages"] = [messages(*map(ctypes.c_int64, pair)) for pair in zip(pairs["bytes"].tolist(), contributors.tolist(), strict=True)]
    return pairs


def _wanted(maps: IndexMaps, nodes: np.ndarray, count: int) -> np.ndarray:
    """The pair of nodes of every cell that one sends to the other."""
    wanted = np.unique(np.concatenate([ids * count + nodes[reader] for reader, ids in enumerate(maps.ghosts)]))
    home, away = nodes[maps.owner_of(wanted // count)], wanted % count
    return (home * count + away)[home != away]

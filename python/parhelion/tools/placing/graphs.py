"""Graphs of parts that exchange: from a data set of index maps, or from a graph file of METIS."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..cli.errors import BadInput
from ..partitioning.maps.dataset import SUFFIX, read_index_maps
from ..partitioning.maps.maps import IndexMaps

Edges = list[dict[int, int]]


@dataclass(frozen=True)
class PartGraph:
    """`edges[p]` holds the bytes that part p sends to each other part; `maps` which cells these are, where that is known."""

    edges: Edges
    bytes_per_cell: int
    maps: IndexMaps | None = None


def read_graph(path: Path, bytes_per_cell: int) -> PartGraph:
    """A data set of `parhelion partition` (a folder, or a file .phlmap), else a graph file of METIS. Raises BadInput or IndexMapError."""
    if path.is_dir() or path.suffix == SUFFIX or not path.exists():
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

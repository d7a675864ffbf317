"""Communication graphs of mesh parts from index maps, and messages between nodes."""

import ctypes

import numpy as np

from ..mesh.maps import IndexMaps
from ..placement import GraphPlacement
from ..placement.library import library
from ..placement.placement import NODE_PAIR

Edges = list[dict[int, int]]


def edges_of(maps: IndexMaps, bytes_per_cell: int) -> Edges:
    edges: Edges = [{} for _ in range(maps.ranks)]
    for reader in range(maps.ranks):
        for owner, cells in zip(*maps.sources(reader), strict=True):
            edges[int(owner)][reader] = int(cells) * bytes_per_cell
    return edges


def pairs_of_parts(maps: IndexMaps, placement: GraphPlacement, bytes_per_cell: int) -> np.ndarray:
    nodes, count = placement.units("node"), placement.machine.nodes
    senders, receivers, sizes = (each[nodes[placement.directed[0]] != nodes[placement.directed[1]]] for each in placement.directed)
    keys, place = np.unique(nodes[senders] * count + nodes[receivers], return_inverse=True)
    pairs = np.zeros(len(keys), NODE_PAIR)
    pairs["from"], pairs["to"] = np.divmod(keys, count)
    np.add.at(pairs["pairs"], place, 1)
    np.add.at(pairs["bytes_in_pairs"], place, sizes)
    contributors = np.bincount(np.unique(np.stack([place, senders]), axis=1)[0], minlength=len(keys))
    # A node receives each cell once.
    wanted = np.unique(np.concatenate([ids * count + nodes[reader] for reader, ids in enumerate(maps.ghosts)]))
    home, away = nodes[maps.owner_of(wanted // count)], wanted % count
    pairs["bytes"] = np.bincount(np.searchsorted(keys, (home * count + away)[home != away]), minlength=len(keys)) * bytes_per_cell
    messages = library().phl_node_messages
    pairs["messages"] = [messages(*map(ctypes.c_int64, pair)) for pair in zip(pairs["bytes"].tolist(), contributors.tolist(), strict=True)]
    return pairs

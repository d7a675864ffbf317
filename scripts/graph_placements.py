#!/usr/bin/env python3
"""Placements of graphs beside METIS and KaHIP, as the Markdown table of docs/placement.md.

    graph_placements.py [--parts 96,384] DATASET...     # of the demo mesh, cut into so many parts, and of data sets

Each contender cuts the graph of parts into nodes, each node's parts into its sockets and so on: METIS by recursive bisection, KaHIP by
`kaffpa_balance` (strong, perfectly balanced), both once per level; what METIS leaves unbalanced goes on to the next unit. KaHIP's own
`process_mapping` puts several parts on one core where they are as few as cores: how many is told. Needs `pip install kahip`.
Cost: what leaves the nodes in kB, and in brackets what KaHIP makes small: bytes × 1 within the innermost level, × 10 within the next, …, in MB.
"""

import argparse
import ctypes
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pymetis

from parhelion.placement import Machine, place_graph
from parhelion.tools.partitioning import demo_partition
from parhelion.tools.placing.parts import arrays_of, find_metis, read_graph

SMALL = [(2, 2, 0), (0, 4), (3, 2, 0)]  # 0: as many as the parts need
LARGE = [(0, 2, 4, 2, 2), (0, 2, 4, 2), (0, 2, 2, 12), (0, 2, 4, 8)]
STRONG = 2


def machines(parts: int) -> list[list[int]]:
    """Units of each level inside the one around it, outermost first, of three machines."""
    shapes = SMALL if parts < 96 else LARGE
    found = [[each or parts // int(np.prod([n for n in shape if n])) for each in shape] for shape in shapes]
    return [[n for n in shape if n > 1] for shape in found if np.prod(shape) == parts][:3]


class Graph:
    """Undirected, in the form that both libraries take."""

    def __init__(self, edges) -> None:
        self.senders, self.receivers, self.bytes = arrays_of(edges)
        self.edges, self.parts = edges, len(edges)
        both: list[dict[int, int]] = [{} for _ in edges]
        for here, there, size in zip(self.senders, self.receivers, self.bytes):
            for a, b in ((here, there), (there, here)):
                both[a][int(b)] = both[a].get(int(b), 0) + int(size)
        self.both = both

    def rows(self, parts):
        """CSR of the graph among `parts`."""
        local = {part: index for index, part in enumerate(parts)}
        kept = [[(local[q], size) for q, size in self.both[p].items() if q in local] for p in parts]
        starts = np.cumsum([0, *map(len, kept)]).tolist()
        return starts, [q for row in kept for q, _ in row], [size for row in kept for _, size in row]

    def cost(self, positions, shape) -> tuple[float, float]:
        """kB that leave the nodes, and what process mapping makes small, in MB."""
        sizes = np.cumprod(shape[::-1])[:-1][::-1]
        leaving = [int(self.bytes[positions[self.senders] // s != positions[self.receivers] // s].sum()) for s in sizes]
        weights = [10 ** (len(sizes) - level) - 10 ** (len(sizes) - level - 1) for level in range(len(sizes))]
        return leaving[0] / 1e3, (int(self.bytes.sum()) + sum(map(int.__mul__, leaving, weights))) / 1e6


def by_level(graph: Graph, shape, cut) -> np.ndarray:
    """Positions, when `cut` divides the parts of each unit into its units, level after level."""
    groups = [list(range(graph.parts))]
    for count in shape[:-1]:
        next_groups = []
        for parts in groups:
            order = np.argsort(cut(*graph.rows(parts), count), kind="stable")
            size = len(parts) // count
            next_groups += [[parts[i] for i in order[u * size : (u + 1) * size]] for u in range(count)]
        groups = next_groups
    positions = np.empty(graph.parts, int)
    positions[[part for parts in groups for part in parts]] = np.arange(graph.parts)
    return positions


def metis(starts, targets, weights, count):
    index = pymetis.zero_copy_dtype()
    graph = pymetis.CSRAdjacency(np.array(starts, index), np.array(targets, index))
    return pymetis.part_graph(count, graph, eweights=weights, recursive=True)[1]


class Kahip:
    def __init__(self) -> None:
        found = importlib.util.find_spec("kahip")
        if not found or not found.origin:
            sys.exit("kahip is not installed: pip install kahip")
        self.library = ctypes.CDLL(str(Path(found.origin).parents[1] / "lib" / "libkahip.so"))

    def cut(self, starts, targets, weights, count):
        part, (n, k, imbalance, edge_cut) = integers(starts[:-1]), (ctypes.c_int(len(starts) - 1), ctypes.c_int(count), ctypes.c_double(0), ctypes.c_long())
        self.library.kaffpa_balance(ctypes.byref(n), integers([1] * n.value), integers(starts), integers(weights), integers(targets), ctypes.byref(k),
                                    ctypes.byref(imbalance), ctypes.c_bool(True), ctypes.c_bool(True), ctypes.c_int(0), ctypes.c_int(STRONG),
                                    ctypes.byref(edge_cut), part)  # fmt: skip
        return list(part)

    def shared(self, graph: Graph, shape) -> int:
        """How many parts process_mapping puts where another one is."""
        starts, targets, weights = graph.rows(list(range(graph.parts)))
        part, n, imbalance, edge_cut, cost = integers(starts[:-1]), ctypes.c_int(graph.parts), ctypes.c_double(0), ctypes.c_long(), ctypes.c_int()
        self.library.process_mapping(ctypes.byref(n), integers([1] * graph.parts), integers(starts), integers(weights), integers(targets),
                                     integers(shape[::-1]), integers([10**level for level in range(len(shape))]), ctypes.c_int(len(shape)),
                                     ctypes.c_int(STRONG), ctypes.c_int(0), ctypes.byref(imbalance), ctypes.c_bool(True), ctypes.c_int(0),
                                     ctypes.byref(edge_cut), ctypes.byref(cost), part)  # fmt: skip
        return graph.parts - len({*part})


def integers(values):
    return (ctypes.c_int * max(1, len(values)))(*values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", type=Path)
    parser.add_argument("--parts", type=lambda text: [int(word) for word in text.split(",")], default=[])
    options = parser.parse_args()
    find_metis()
    kahip = Kahip()
    print("| Parts of | Units per level | In order | METIS | KaHIP | Parhelion | s | Sharing a core in KaHIP's process mapping |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in [*options.datasets, *(demo_partition(folder, parts) for parts in options.parts)]:
            graph = Graph(read_graph(path, 8).edges)
            for shape in machines(graph.parts):
                row(path.name, graph, shape, kahip)


def row(name: str, graph: Graph, shape, kahip: Kahip) -> None:
    names = ["node", *("pack", "numa", "l3")[: len(shape) - 2], "core"]
    machine = Machine(" ".join(f"{level}:{count}" for level, count in zip(names, shape)))
    start = time.perf_counter()
    own = place_graph(machine, graph.edges)
    seconds = time.perf_counter() - start
    tried = [np.arange(graph.parts), by_level(graph, shape, metis), by_level(graph, shape, kahip.cut), own.positions]
    costs = [graph.cost(positions, shape) for positions in tried]
    if any(costs[-1][0] > other[0] for other in costs):
        name += " **more costly**"
    cells = " | ".join(f"{node:,.1f} ({mapped:,.2f})" for node, mapped in costs)
    print(f"| {name} | {' × '.join(map(str, shape))} | {cells} | {seconds:.2f} | {kahip.shared(graph, shape)} |", flush=True)


if __name__ == "__main__":
    main()

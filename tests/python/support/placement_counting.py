"""Jsum and Jmax counted edge by edge, what goes between nodes cell by cell, independently of the library."""

import collections
import itertools

import numpy as np


def count(units: np.ndarray, offsets: list[tuple[int, ...]], periodic: list[bool]) -> tuple[int, int]:
    """Directed edges that leave a unit: over all units, and the most that leave one."""
    leaving = np.zeros(int(units.max()) + 1, np.int64)
    for point, _, target in edges(units.shape, offsets, periodic):
        leaving[units[point]] += units[target] != units[point]
    return int(leaving.sum()), int(leaving.max())


def edges(shape, offsets, periodic):
    """Point, offset and the point that it leads to."""
    for point in np.ndindex(*shape):
        for offset in offsets:
            target = []
            for x, step, extent, wraps in zip(point, offset, shape, periodic, strict=True):
                to = x + step
                if wraps:
                    to %= extent
                if not 0 <= to < extent:
                    break
                target.append(to)
            else:
                yield point, offset, tuple(target)


def count_between(nodes, offsets, periodic, cells, halo):
    """By nodes (from, to): pairs of ranks, cells that these exchange, ranks that send, different cells. Each cell is looked at."""
    ranks, sent = collections.defaultdict(set), collections.Counter()
    different = collections.defaultdict(set)
    for point, offset, target in edges(nodes.shape, offsets, periodic):
        key = int(nodes[point]), int(nodes[target])
        if key[0] == key[1]:
            continue
        sides = [range(n) if not s else range(min(halo, n)) if s < 0 else range(n - min(halo, n), n) for s, n in zip(offset, cells, strict=True)]
        box = [(point, cell) for cell in itertools.product(*sides)]
        ranks[key].add((point, target))
        sent[key] += len(box)
        different[key].update(box)
    return {key: (len(ranks[key]), sent[key], len({point for point, _ in ranks[key]}), len(different[key])) for key in sorted(ranks)}


def neighborhood(stencil: str, dimensions: int) -> list[tuple[int, ...]]:
    """The offsets of `faces`, `full`, or of a text of offsets."""
    if stencil not in ("faces", "full"):
        return [tuple(map(int, offset.split(","))) for offset in stencil.split(";")]
    around = [tuple(i - 1 for i in index) for index in np.ndindex(*[3] * dimensions)]
    return [o for o in around if any(o) and (stencil == "full" or sum(map(abs, o)) == 1)]

"""Jsum and Jmax counted edge by edge, independently of the library."""

import numpy as np


def count(units: np.ndarray, offsets: list[tuple[int, ...]], periodic: list[bool]) -> tuple[int, int]:
    """Directed edges that leave a unit: over all units, and the most that leave one."""
    leaving = np.zeros(int(units.max()) + 1, np.int64)
    for point in np.ndindex(*units.shape):
        for offset in offsets:
            target = []
            for x, step, extent, wraps in zip(point, offset, units.shape, periodic, strict=True):
                to = x + step
                if wraps:
                    to %= extent
                if not 0 <= to < extent:
                    break
                target.append(to)
            else:
                leaving[units[point]] += units[tuple(target)] != units[point]
    return int(leaving.sum()), int(leaving.max())


def neighborhood(stencil: str, dimensions: int) -> list[tuple[int, ...]]:
    """The offsets of `faces`, `full`, or of a text of offsets."""
    if stencil not in ("faces", "full"):
        return [tuple(map(int, offset.split(","))) for offset in stencil.split(";")]
    around = [tuple(i - 1 for i in index) for index in np.ndindex(*[3] * dimensions)]
    return [o for o in around if any(o) and (stencil == "full" or sum(map(abs, o)) == 1)]

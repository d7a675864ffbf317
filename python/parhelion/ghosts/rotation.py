"""Ghosts beyond a periodic end whose axes are turned."""

from typing import Any

import numpy as np

from ..domain.indexed import to_ids


class Rotation:
    """Turns vectors or tensors in some ghost rows of an array of the exchange, there and back."""

    def __init__(self, exchange: Any, array: Any, matrix: Any, ghosts: Any, first: int, order: int) -> None:
        if not any(array is each for each in exchange.arrays) or array.layout != "uniform":
            raise ValueError("rotate an array of this exchange with rows of one size; use on_arrival for others")
        self.matrix = np.asarray(matrix, array.dtype)
        side = len(self.matrix) if self.matrix.ndim == 2 else 0
        if side == 0 or self.matrix.shape != (side, side) or order not in (1, 2):
            raise ValueError(f"matrix has shape {self.matrix.shape}, order is {order}: pass a square matrix, and 1 or 2")
        self.array, self.shape = array, (side,) * order
        self.part = slice(first, first + side**order)
        self.rows = np.arange(array.map.ghosts) if ghosts is None else to_ids(ghosts, "ghosts")
        width = int(np.prod(array.row_shape, dtype=int))
        if first < 0 or self.part.stop > width:
            raise ValueError(f"numbers {first} to {self.part.stop - 1} are not in rows of {width}: pass another `first`")
        if self.rows.size and not 0 <= self.rows.min() <= self.rows.max() < array.map.ghosts:
            raise ValueError(f"a ghost position is not from 0 to {array.map.ghosts - 1}")

    def arrive(self) -> None:
        self._turn(self.matrix)

    def depart(self) -> None:
        self._turn(self.matrix.T)

    def _turn(self, matrix: np.ndarray) -> None:
        flat = self.array.ghosts.reshape(self.array.map.ghosts, -1)
        old = flat[self.rows, self.part].reshape(-1, *self.shape)
        new = old @ matrix.T if len(self.shape) == 1 else matrix @ old @ matrix.T
        part = self.array.ghosts
        part[self.rows] = _with(part[self.rows], self.part, new)


def _with(rows: np.ndarray, part: slice, values: np.ndarray) -> np.ndarray:
    flat = rows.reshape(len(rows), -1)
    flat[:, part] = values.reshape(len(rows), -1)
    return flat.reshape(rows.shape)

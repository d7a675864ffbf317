"""Rows with room for more entries than they use."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .array import GhostArray
from ..exchange.index_map import IndexMap

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class PaddedGhostArray(GhostArray):
    """Rows with room for `most` entries, of which each uses as many as `sizes` says. Made by `GhostArray.padded`."""

    layout = "padded"

    def __init__(
        self, map: IndexMap, most: int, dtype: "DTypeLike" = "float64", components: "int | Sequence[int] | None" = None, *,
        alignment: int = 1,
    ) -> None:  # fmt: skip
        self._make(map, dtype, components, most, alignment)
        self.most = int(most)
        self._show((self.most, *self._shape))
        self._sizes = np.ndarray((map.size,), np.int32, self._native.sizes_memory())

    @property
    def sizes(self) -> np.ndarray:
        """Entries in each row, owned then ghosts, int32; a view that can be written. It travels with the rows."""
        return self._sizes

    def __getitem__(self, index: Any) -> np.ndarray:
        """View of a row's entries, without the room behind them."""
        row = self._row_number(index)
        return self.array[row, : self._native.row_size(row)]

    def __setitem__(self, index: Any, value: Any) -> None:
        """Puts entries into a row and sets its size. ValueError when there are more than `most`."""
        row = self._row_number(index)
        entries = np.asarray(value, self._dtype)
        if entries.shape[1:] != self._shape or entries.ndim < 1 or len(entries) > self.most:
            raise ValueError(f"entries of shape {entries.shape} do not fit a row of up to {self.most} entries of shape {self._shape}")
        self.array[row, : len(entries)] = entries
        self._sizes[row] = len(entries)

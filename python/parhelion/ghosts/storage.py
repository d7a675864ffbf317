"""Row arrays without their ranks: what is pickled and copied."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.together import together
from .exchange import fill_ghosts
from ..exchange.index_map import IndexMap, checked_map
from .rows import Rows


@dataclass(eq=False)
class DetachedRows:
    """One rank's rows of a GhostArray, away from its communicator: what `pickle` makes of one. `attach` puts them on a map.

    `entries` are those of all rows one after the other (padded: the used ones), `sizes` how many each row has.
    """

    layout: str
    shape: tuple[int, ...]
    most: int
    alignment: int
    owned_ids: np.ndarray
    ghost_ids: np.ndarray
    sizes: np.ndarray
    entries: np.ndarray

    def attach(self, map: IndexMap) -> Any:
        """A GhostArray with these rows on `map`, whose owned rows and ghosts must be the same ones. Collective."""
        comm = checked_map(map)._native_comm
        together(comm, lambda: self._check(map))
        return self.put_on(map)

    def put_on(self, map: IndexMap) -> Any:
        """As `attach`, for ids that are known to be the same ones."""
        array = self._empty_on(map)
        if array.layout == "ragged":
            owned = int(self.sizes[: map.owned].sum())
            array.replace(self.sizes[: map.owned], self.entries[:owned])
            fill_ghosts(array)
        self._fill(array)
        return array

    def _check(self, map: IndexMap) -> None:
        if not np.array_equal(self.owned_ids, map.owned_ids) or not np.array_equal(self.ghost_ids, map.ghost_ids):
            raise ValueError(f"the rows are {len(self.owned_ids)} owned ones and {len(self.ghost_ids)} ghosts, and the map of rank "
                             f"{map._native_comm.rank} has others: attach them to a map with the same ids")  # fmt: skip

    def _empty_on(self, map: IndexMap) -> Any:
        kind, shape, alignment = self.entries.dtype, self.shape, self.alignment
        if self.layout == "uniform":
            return Rows.kinds["uniform"](map, shape, kind, alignment=alignment)
        if self.layout == "padded":
            return Rows.kinds["padded"](map, self.most, kind, shape or None, alignment=alignment)
        return Rows.kinds["ragged"](map, dtype=kind, components=shape or None, alignment=alignment)

    def _fill(self, array: Any) -> None:
        if array.layout == "uniform":
            array.array[...] = self.entries.reshape(array.array.shape)
            return
        begin = 0
        for row, size in enumerate(self.sizes.tolist()):
            if array.layout == "padded" or len(array[row]) == size:
                array[row] = self.entries[begin : begin + size]
            begin += size


def detach(array: Any) -> DetachedRows:
    """A copy of this rank's rows. Local."""
    layout = array.layout
    if layout == "ragged" and array.editing:
        raise ValueError("the rows are being edited: compress them before they are copied, pickled or saved")
    rows = len(array)
    sizes = np.ones(rows, np.int32) if layout == "uniform" else np.array(array.sizes)
    if layout == "uniform":
        entries = np.concatenate([array.owned, array.ghosts])
    else:
        entries = np.concatenate([array[row] for row in range(rows)] or [np.empty((0, *array.row_shape), array.dtype)])
    most = getattr(array, "most", 1)
    map = array.map
    return DetachedRows(layout, array.row_shape, most, array._alignment, map.owned_ids, map.ghost_ids, sizes, entries)

"""Row arrays without their ranks: what is pickled and copied."""

from dataclasses import dataclass

import numpy as np

from ._together import together
from .ghost_array import GhostArray
from .ghost_map import GhostMap


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

    def attach(self, map: GhostMap) -> GhostArray:
        """A GhostArray with these rows on `map`, whose owned rows and ghosts must be the same ones. Collective."""
        from .ghost_array import _checked_map
        from .ghost_exchange import fill_ghosts

        comm = _checked_map(map)._native_comm
        together(comm, lambda: self._check(map))
        array = self._empty_on(map)
        if array.layout == "ragged":
            owned = int(self.sizes[: map.owned].sum())
            array.replace(self.sizes[: map.owned], self.entries[:owned])  # type: ignore[attr-defined]
            fill_ghosts(array)
        self._fill(array)
        return array

    def _check(self, map: GhostMap) -> None:
        if not np.array_equal(self.owned_ids, map.owned_ids) or not np.array_equal(self.ghost_ids, map.ghost_ids):
            raise ValueError(f"the rows are {len(self.owned_ids)} owned ones and {len(self.ghost_ids)} ghosts, and the map of rank "
                             f"{map._native_comm.rank} has others: attach them to a map with the same ids")  # fmt: skip

    def _empty_on(self, map: GhostMap) -> GhostArray:
        kind, shape, alignment = self.entries.dtype, self.shape, self.alignment
        if self.layout == "uniform":
            return GhostArray(map, shape, kind, alignment=alignment)
        if self.layout == "padded":
            return GhostArray.padded(map, self.most, kind, shape or None, alignment=alignment)
        return GhostArray.ragged(map, dtype=kind, components=shape or None, alignment=alignment)

    def _fill(self, array: GhostArray) -> None:
        if array.layout == "uniform":
            array.array[...] = self.entries.reshape(array.array.shape)
            return
        begin = 0
        for row, size in enumerate(self.sizes.tolist()):
            if array.layout == "padded" or len(array[row]) == size:
                array[row] = self.entries[begin : begin + size]
            begin += size


def detach(array: GhostArray) -> DetachedRows:
    """A copy of this rank's rows. Local."""
    layout = array.layout
    if layout == "ragged" and array.editing:  # type: ignore[attr-defined]
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

"""Rows as long as they need to be."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.together import together
from .array import GhostArray
from ..exchange.index_map import IndexMap, checked_map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


class RaggedGhostArray(GhostArray):
    """Rows one behind the other (CSR), each with its own number of entries. Made by `GhostArray.ragged`.

    `values` and `offsets` show all rows, `array[i]` one. Sizes change between `edit` and `compress`; exchanges of the array
    notice it and ask to be refreshed. Rows do not move while a view of them exists: `compress` and `refresh` then raise.

        with neighbors.edit():               # on every rank
            neighbors[3] = [17, 4]
        exchange.refresh()
    """

    layout = "ragged"

    def __init__(
        self, map: IndexMap, sizes: "ArrayLike | None" = None, values: "ArrayLike | None" = None,
        dtype: "DTypeLike | None" = None, components: "int | Sequence[int] | None" = None, *, alignment: int = 1,
    ) -> None:  # fmt: skip
        self._map = checked_map(map)

        def make() -> "_core.GhostRows":
            kind = dtype if dtype is not None or values is None else np.asarray(values).dtype
            self._describe("float64" if kind is None else kind, components, 1, alignment)
            if sizes is None and values is None:
                return _core.GhostRows(map._map, self._layout)
            counts = self._counts(sizes)
            entries = np.zeros((int(counts.sum()), *self._shape), self._dtype) if values is None else values
            return _core.GhostRows.ragged(map._map, self._layout, counts, self._bytes(entries, "values"))

        self._native = together(self._comm, make)

    # --- what it is ---

    @property
    def array(self) -> np.ndarray:
        """AttributeError: ragged rows are no rectangle; use `values` and `offsets`, or `array[i]`."""
        raise AttributeError("ragged rows are no rectangle: use `values` and `offsets`, or index one row")

    @property
    def sizes(self) -> np.ndarray:
        """Entries in each row, owned then ghosts, int32; a copy."""
        return self._native.sizes()

    @property
    def offsets(self) -> np.ndarray:
        """Where each row begins in `values`, and where the last one ends: int64, one more than rows; a copy."""
        self._require_no_gaps()
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])

    @property
    def values(self) -> np.ndarray:
        """View of the entries of all rows: shape (entries, *row_shape). AttributeError where alignment leaves gaps."""
        self._require_no_gaps()
        return self._entries(0, int(self.sizes.sum(dtype=np.int64)))

    @property
    def owned(self) -> np.ndarray:
        """View of the entries of the owned rows."""
        return self.values[: self.offsets[self._map.owned]]

    @property
    def ghosts(self) -> np.ndarray:
        """View of the entries of the ghost rows."""
        return self.values[self.offsets[self._map.owned] :]

    def __getitem__(self, index: Any) -> np.ndarray:
        """View of a row's entries. While the array is edited: a copy of an owned row."""
        row = self._row_number(index)
        if self._native.editing:
            return np.frombuffer(self._native.edited_row(row), self._dtype).reshape(-1, *self._shape)
        return self._entries(self._native.row_start(row), self._native.row_size(row))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Puts entries into a row: as many as it has, or, while an owned row is edited, any number."""
        row = self._row_number(index)
        if self._native.editing:
            self._native.set_row(row, self._bytes(value, f"row {row}"))
            return
        entries = np.asarray(value, self._dtype)
        if entries.ndim > 0 and len(entries) != self._native.row_size(row):
            raise ValueError(f"row {row} has {self._native.row_size(row)} entries, not {len(entries)}: call edit before, compress after")
        self[row][...] = entries

    # --- edit and compress ---

    @property
    def editing(self) -> bool:
        """Whether `edit` was called and `compress` was not."""
        return self._native.editing

    def edit(self) -> Any:
        """From now on owned rows can be given any number of entries. Local. As a context it compresses at its end."""
        self._native.edit()
        return self._compressing()

    def compress(self) -> None:
        """Ends the editing. Collective: call it on every rank, also where nothing was changed.

        Raises ValueError on every rank while views of rows exist on one; the array then is still being edited.
        """
        self._native.compress()

    @contextmanager
    def _compressing(self) -> Iterator["RaggedGhostArray"]:
        try:
            yield self
        finally:
            self.compress()  # an error in the body is this rank's alone, and the others compress

    def replace(self, sizes: "ArrayLike", values: "ArrayLike") -> None:
        """All owned rows at once: edit, new sizes and entries, compress. Collective."""

        counts, entries = together(self._comm, lambda: self._all_rows(sizes, values))
        self._native.edit()
        self._native.set_all(counts, entries)
        self.compress()

    def _all_rows(self, sizes: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
        counts, entries = self._counts(sizes), self._bytes(values, "values")
        if self._native.editing:
            raise ValueError("these rows are being edited: compress them first")
        told, passed = int(counts.sum(dtype=np.int64)), entries.nbytes // self._entry_bytes
        if told != passed:
            raise ValueError(f"the sizes add up to {told} entries, {passed} were passed")
        return counts, entries

    # --- inner parts ---

    @property
    def _entry_bytes(self) -> int:
        return self._dtype.itemsize * math.prod(self._shape)

    def _dense(self) -> np.ndarray:
        return self.values

    def _entries(self, start: int, count: int) -> np.ndarray:
        return np.ndarray((count, *self._shape), self._dtype, self._native.memory(), start)

    def _require_no_gaps(self) -> None:
        if self._native.editing:
            raise AttributeError("the rows are being edited and lie apart: compress them first")
        if self._entry_bytes % self._alignment and np.any(self.sizes * self._entry_bytes % self._alignment):
            raise AttributeError(f"rows aligned to {self._alignment} bytes have gaps between them: index one row, or use `sizes`")

    def _counts(self, sizes: Any) -> np.ndarray:
        counts = np.asarray([] if sizes is None else sizes)
        if counts.size and counts.dtype.kind not in "iu":
            raise TypeError(f"sizes are {counts.dtype}: pass whole numbers, one per owned row")
        if counts.ndim != 1 or len(counts) != self._map.owned:
            raise ValueError(f"sizes has shape {counts.shape} and this rank {self._map.owned} owned rows: pass one size for each")
        if counts.size and (counts.min() < 0 or counts.max() > np.iinfo(np.int32).max):
            raise ValueError("a size is negative, or beyond 2^31 − 1: pass entries per row")
        return np.ascontiguousarray(counts, np.int32)

    def _bytes(self, values: Any, name: str) -> np.ndarray:
        entries = np.ascontiguousarray(values, self._dtype)
        if entries.size == 0:
            return np.empty(0, np.uint8)
        if entries.ndim < 1 or entries.shape[1:] != self._shape:
            raise ValueError(f"{name} has shape {entries.shape}: pass entries of shape {self._shape}, one after the other")
        return entries.reshape(-1).view(np.uint8)

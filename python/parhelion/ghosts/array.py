"""Row arrays with ghosts: owned rows, then ghost rows, indexed as one."""

import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _core
from ..base.arguments import integer
from ..base.together import together
from ..domain.arrays import component_shape, element_type
from ..exchange.fields import as_array, element_name
from .files import load, save
from ..exchange.index_map import IndexMap, checked_map
from .rows import Rows
from .storage import detach

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, DTypeLike

    from .padded import PaddedGhostArray
    from .ragged import RaggedGhostArray


class GhostArray(Rows):
    """Rows of a `IndexMap`: owned rows, then ghosts. This class has rows of one size; `padded` and `ragged` make others.

    The rows lie in node-shared memory that the array owns, from which neighbors on the node can be served without messages;
    it lives as long as any view of it. Construction is collective, so that every rank raises, or none.

    Args:
        map: the map whose rows these are; arrays of different layouts can share it.
        shape: what a row is: () a number, 5 or (5,) a vector, (3, 3) a matrix.
        dtype: any dtype of fixed size, structures too. Numbers can be summed in a reverse exchange, others replaced.
        alignment: every row begins at a multiple of so many bytes.

    Raises ValueError or TypeError on every rank for what cannot be, ResourceError when memory is short.

        u = ph.GhostArray(cells, (3, 3))     # u[i] is row i's matrix, u.owned and u.ghosts are all of them
        ph.GhostExchange(u)()                # every ghost row now holds its owner's
    """

    layout: Literal["uniform", "padded", "ragged"] = "uniform"
    _watched: "list[weakref.ref[np.ndarray]] | None" = None  # the caller's arrays, where the rows are theirs

    def __init__(
        self, map: IndexMap, shape: "int | Sequence[int]" = (), dtype: "DTypeLike" = "float64", *, alignment: int = 1
    ) -> None:
        self._make(map, dtype, shape, 1, alignment)
        self._show(self._shape)

    # --- making ---

    @staticmethod
    def padded(
        map: IndexMap, most: int, dtype: "DTypeLike" = "float64", components: "int | Sequence[int] | None" = None, *,
        alignment: int = 1,
    ) -> "PaddedGhostArray":  # fmt: skip
        """Rows with room for `most` entries, each with a size of its own in `sizes`, which travels along. Collective."""
        made: PaddedGhostArray = Rows.kinds["padded"](map, most, dtype, components, alignment=alignment)
        return made

    @staticmethod
    def ragged(
        map: IndexMap, sizes: "ArrayLike | None" = None, values: "ArrayLike | None" = None, dtype: "DTypeLike | None" = None,
        components: "int | Sequence[int] | None" = None, *, alignment: int = 1,
    ) -> "RaggedGhostArray":  # fmt: skip
        """Rows as long as they need to be, one behind the other: `sizes` entries in each owned row, taken from `values`.

        Without sizes the rows are empty until they are edited. Ghost rows get their size when an exchange is made or
        refreshed. Collective.
        """
        made: RaggedGhostArray = Rows.kinds["ragged"](map, sizes, values, dtype, components, alignment=alignment)
        return made

    @classmethod
    def over(cls, map: IndexMap, owned: "ArrayLike", ghosts: "ArrayLike") -> "GhostArray":
        """Two arrays of the caller as one, without a copy: owned rows and ghost rows, apart in memory. Collective.

        Both are kept alive, and cannot be resized meanwhile. `rebind` takes others.
        """
        made = cls.__new__(cls)
        made._map = checked_map(map)

        def describe() -> tuple[np.ndarray, np.ndarray]:
            parts = made._checked(owned, ghosts)
            made._describe(parts[0].dtype, parts[0].shape[1:], 1, 1)
            return parts

        parts = together(made._comm, describe)
        made._native = _core.GhostRows.over(map._map, made._layout, *_places(parts))
        made._array, made._parts, made._watched = None, parts, _references(owned, ghosts)
        return made

    def rebind(self, owned: "ArrayLike", ghosts: "ArrayLike") -> None:
        """Other arrays of the same dtype and row shape, for one made by `over`. Collective; refresh its exchanges after it."""

        def check() -> tuple[np.ndarray, np.ndarray]:
            if self._watched is None:
                raise TypeError("this array owns its memory: only one made by GhostArray.over can be rebound")
            parts = self._checked(owned, ghosts)
            kind, shape = parts[0].dtype, parts[0].shape[1:]
            if (kind, shape) != (self._dtype, self._shape):
                raise ValueError(f"rows of {self._dtype} {self._shape} cannot be rebound to rows of {kind} {shape}: make them alike")
            return parts

        self._parts, self._watched = together(self._comm, check), _references(owned, ghosts)
        self._native.rebind(*_places(self._parts))

    def _checked(self, owned: Any, ghosts: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both as arrays, if they fit the map and each other."""
        parts = (as_array(owned, "owned"), as_array(ghosts, "ghosts"))
        for part, rows, name in zip(parts, (self._map.owned, self._map.ghosts), ("owned", "ghosts"), strict=True):
            if part.ndim < 1 or len(part) != rows:
                raise ValueError(f"{name} has shape {part.shape} and this rank {rows} such rows: make the first axis {rows} long")
            if part.size > 0 and not part[:1].flags.c_contiguous:
                raise ValueError(f"the rows of {name} are not contiguous: pass an array whose rows are, in C order")
        if parts[0].dtype != parts[1].dtype or parts[0].shape[1:] != parts[1].shape[1:]:
            raise ValueError(f"owned has rows of {parts[0].dtype} {parts[0].shape[1:]}, ghosts of {parts[1].dtype} "
                             f"{parts[1].shape[1:]}: make them alike")  # fmt: skip
        return parts

    def _describe(self, dtype: Any, shape: Any, width: int, alignment: Any) -> None:
        """Checks and remembers what a row is; local."""
        self._dtype = element_type(dtype)
        self._shape = component_shape(shape)
        self._alignment = integer(alignment, "alignment")
        self._layout = _core.RowLayout(
            self.layout, element_name(self._dtype), math.prod(self._shape), integer(width, "most"), self._alignment
        )
        self._layout.check()

    def _make(self, map: IndexMap, dtype: Any, shape: Any, width: int, alignment: Any) -> None:
        self._map = checked_map(map)

        def make() -> "_core.GhostRows":
            self._describe(dtype, shape, width, alignment)
            return _core.GhostRows(map._map, self._layout)

        self._native = together(self._comm, make)

    def _show(self, shape: tuple[int, ...]) -> None:
        """The native rows as arrays, `shape` being that of a row."""
        inner = [self._dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        strides = (self._layout.stride, *inner)
        self._array: np.ndarray | None = np.ndarray((len(self), *shape), self._dtype, self._native.memory(), strides=strides)
        self._parts = (self._array[: self._map.owned], self._array[self._map.owned :])

    # --- what it is ---

    @property
    def map(self) -> IndexMap:
        """The map whose rows these are."""
        return self._map

    @property
    def dtype(self) -> np.dtype:
        """Of the rows' elements."""
        return self._dtype

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of a row (padded, ragged: of an entry)."""
        return self._shape

    @property
    def array(self) -> np.ndarray:
        """View of all rows, owned then ghosts: shape (rows, *row_shape), or (rows, most, *row_shape) when padded.

        AttributeError for arrays made by `over`, whose two parts lie apart.
        """
        if self._array is None:
            raise AttributeError("owned rows and ghosts lie apart: use `owned` and `ghosts`")
        return self._array

    @property
    def owned(self) -> np.ndarray:
        """View of the owned rows."""
        return self._parts[0]

    @property
    def ghosts(self) -> np.ndarray:
        """View of the ghost rows, in the map's order."""
        return self._parts[1]

    @property
    def sizes(self) -> np.ndarray:
        """Entries in each row, int32."""
        return np.full(len(self), math.prod(self._shape), np.int32)

    def __len__(self) -> int:
        return self._map.size

    def __getitem__(self, index: Any) -> Any:
        if self._array is not None:
            return self._array[index]
        part, row = self._row_apart(index)
        return part[row]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._array is not None:
            self._array[index] = value
            return
        part, row = self._row_apart(index)
        part[row] = value

    def _row_apart(self, index: Any) -> tuple[np.ndarray, int]:
        row = self._row_number(index)
        ghost = row >= self._map.owned
        return self._parts[ghost], row - self._map.owned * ghost

    def _row_number(self, index: Any) -> int:
        row = integer(index, "row")
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} does not exist: this rank has {self._map.owned} owned rows and {self._map.ghosts} ghosts")
        return row % len(self)

    # --- other libraries ---

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        rows = self._dense()
        return np.array(rows, dtype, copy=copy) if copy is not None or dtype is not None else rows

    def __dlpack__(self, **options: Any) -> Any:
        return self._dense().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._dense().__dlpack_device__()

    def _dense(self) -> np.ndarray:
        return self.array

    # --- copies, files ---

    def copy(self) -> "GhostArray":
        """The same rows in memory of their own, on the same map. Collective."""
        return detach(self).attach(self._map)

    def __copy__(self) -> "GhostArray":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "GhostArray":
        return self.copy()

    def __reduce__(self) -> Any:
        rows = detach(self)
        return type(rows), tuple(vars(rows).values())

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the rows with h5py. Collective.

        `path` ending in .h5 or .hdf5: one file with the owned rows of all ranks, written rank after rank, which any number of
        ranks can load. Any other path: a folder with one file per rank, ghosts
        included. Raises on every rank when one cannot write.
        """
        save(self, path)

    @staticmethod
    def load(path: "str | os.PathLike[str]", map: IndexMap) -> "GhostArray":
        """What `save` wrote, on `map`. Collective; from a single file, ghosts are filled by an exchange.

        Raises ValueError on every rank when the file does not have the map's rows, or is no such file.
        """
        return load(path, map)

    def __repr__(self) -> str:
        return (f"<{type(self).__name__}: rank {self._map._native_comm.rank}, {self._map.owned} owned rows, {self._map.ghosts} ghosts "
                f"of {self._dtype} {self._shape}>")  # fmt: skip


def _references(*arrays: Any) -> "list[weakref.ref[np.ndarray]]":
    """References that keep NumPy from resizing arrays of the caller."""
    return [weakref.ref(array) for array in arrays if isinstance(array, np.ndarray)]


def _places(parts: Any) -> tuple[int, ...]:
    return tuple(
        number for part in parts for number in (part.__array_interface__["data"][0], part.strides[0] if part.ndim else 0)
    )

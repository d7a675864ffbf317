"""Domains of cells with global ids: meshes, graphs, matrices."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _core
from ..base.arguments import integer
from ..base.handles import not_pickled
from ..base.together import resolve, together
from .arrays import HaloArray, Place, make_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike, DTypeLike


class IndexedDomain:
    """Ownership of global ids, and the ghosts of this rank.

    Local numbering: owned cells 0 … owned−1, then ghosts in the given order, duplicates allowed. Ranks own contiguous blocks of ids in rank
    order; `with_owned_ids` allows any other ownership. Construction is collective over `comm`; a rank may have no owned cells or no ghosts.

    Args:
        owned: number of cells that this rank owns.
        ghosts: global ids of cells of other ranks that this rank needs.
        comm: an mpi4py communicator; MPI.COMM_WORLD by default.
        self_ghosts: whether a ghost may be a cell of this rank, which exchanges then copy locally.

    Raises ValueError on every rank for a ghost that is out of range, has no owner, or is owned by its own rank.

        domain = ph.IndexedDomain(1000, ghosts=[2005, 17])
        x = domain.zeros(dtype="float64")      # 1000 owned values, then 2 ghosts
    """

    __reduce__ = not_pickled
    _is_subset = False

    def _require_whole(self) -> None:
        if self._is_subset:
            raise ValueError("the map is a subset, and its mask would be ignored: use the original map")

    def __init__(
        self,
        owned: int,
        ghosts: "ArrayLike" = (),
        comm: "Intracomm | None" = None,
        self_ghosts: bool = False,
    ) -> None:
        self._comm, self._native_comm = resolve(comm)
        count, ids = together(self._native_comm, lambda: (integer(owned, "owned", 64), to_ids(ghosts, "ghosts")))
        self._native = _core.IndexedDomain(self._native_comm, count, ids, bool(self_ghosts))

    @classmethod
    def with_owned_ids(
        cls,
        owned_ids: "ArrayLike",
        ghosts: "ArrayLike" = (),
        comm: "Intracomm | None" = None,
        self_ghosts: bool = False,
    ) -> "IndexedDomain":
        """A domain in which this rank owns `owned_ids`, in that local order; they need not be contiguous. Collective.

        Raises ValueError on every rank for an id with two owners, and as the constructor does.
        """
        domain = cls.__new__(cls)
        domain._comm, domain._native_comm = resolve(comm)
        native_comm = domain._native_comm
        owned, wanted = together(native_comm, lambda: (to_ids(owned_ids, "owned_ids"), to_ids(ghosts, "ghosts")))
        domain._native = _core.IndexedDomain(native_comm, owned, wanted, bool(self_ghosts))
        return domain

    @property
    def comm(self) -> "Intracomm":
        """The communicator of the domain."""
        return self._comm

    @property
    def owned(self) -> int:
        """Number of cells that this rank owns."""
        return self._native.owned

    @property
    def ghosts(self) -> int:
        """Number of ghosts of this rank."""
        return self._native.ghosts

    @property
    def size(self) -> int:
        """Number of local cells, owned and ghost."""
        return self.owned + self.ghosts

    @property
    def global_size(self) -> int:
        """Number of cells of all ranks."""
        return self._native.global_size

    @property
    def first(self) -> int | None:
        """First owned id if ranks own contiguous blocks; None for other ownership."""
        first = self._native.first
        return None if first < 0 else first

    @property
    def ghost_ids(self) -> np.ndarray:
        """Global id of each ghost, int64; a copy."""
        return self._native.ghost_ids()

    @property
    def ghost_owners(self) -> np.ndarray:
        """Rank that owns each ghost, int32; a copy."""
        return self._native.ghost_owners()

    def global_of(self, cells: "ArrayLike") -> np.ndarray:
        """Global id of each local cell, owned or ghost; any shape. Local. ValueError for a cell that does not exist."""
        return _mapped(self._native.global_of, cells, "cells")

    def local_of(self, ids: "ArrayLike") -> np.ndarray:
        """Local index of each global id: owned cell, first ghost, or −1; any shape. Local."""
        return _mapped(self._native.local_of, ids, "ids")

    def owners_of(self, ids: "ArrayLike") -> np.ndarray:
        """Rank that owns each global id; any shape. Each rank passes its own ids. Collective.

        Raises ValueError on every rank if an id has no owner.
        """
        flat = together(self._native_comm, lambda: to_ids(np.ravel(ids), "ids"))
        return self._native.owners_of(flat).reshape(np.shape(ids))

    def zeros(
        self,
        dtype: "DTypeLike" = "float64",
        components: "int | Sequence[int] | None" = None,
        order: Literal["C", "F"] = "C",
    ) -> HaloArray:
        """Allocate a zeroed array of owned cells, then ghosts, in node-shared memory. Local.

        `components` adds axes; in Fortran order each component is contiguous. The array owns its memory. Raises ValueError or TypeError for wrong
        arguments, ResourceError when memory is short.
        """
        return make_array(self._place(), dtype, components, order)

    def empty(
        self,
        dtype: "DTypeLike" = "float64",
        components: "int | Sequence[int] | None" = None,
        order: Literal["C", "F"] = "C",
    ) -> HaloArray:
        """Like `zeros`, with unspecified values."""
        return make_array(self._place(), dtype, components, order)

    def full(
        self,
        fill_value: Any,
        dtype: "DTypeLike | None" = None,
        components: "int | Sequence[int] | None" = None,
        order: Literal["C", "F"] = "C",
    ) -> HaloArray:
        """Like `zeros`, with `fill_value` in owned cells and ghosts; `dtype` defaults to that of the value."""
        kind = np.asarray(fill_value).dtype if dtype is None else dtype
        return make_array(self._place(), kind, components, order, fill_value)

    def _place(self) -> Place:
        owned, size = self.owned, self.size
        return Place(self, (size,), (slice(0, owned),), ghosts=(slice(owned, size),))

    def __repr__(self) -> str:
        return (
            f"IndexedDomain(rank {self._native_comm.rank}: {self.owned} owned of {self.global_size} cells, {self.ghosts} ghosts)"
        )


def read_partition(folder: str | os.PathLike[str], comm: "Intracomm | None" = None) -> tuple[int, np.ndarray]:
    """Read this rank's part of a partition: number of owned cells, and ghost ids from 0. Collective.

    Every rank reads its own file in the folder (`data001` for rank 0, …), as written by `parhelion partition`. Raises ValueError on every
    rank if a file is missing, damaged, or for another number of ranks.

        domain = ph.IndexedDomain(*ph.read_partition("opencalc-B0-2"))
    """
    _, native_comm = resolve(comm)
    return _core.read_partition(together(native_comm, lambda: os.fspath(folder)), native_comm)


def read_partition_keys(folder: str | os.PathLike[str], comm: "Intracomm | None" = None) -> np.ndarray:
    """Read the mesh-file numbers of this rank's owned ids: an int64 array with one row per id. Collective.

    `folder` comes from `parhelion partition`. Cells and nodes have one column, their number in the file from 0; edges and faces have the
    numbers of their points, padded with -1. Raises ValueError on every rank as `read_partition` does, and for a folder without keys.

        mine = values_of_the_file[ph.read_partition_keys("maps/casting-12")[:, 0]]
    """
    _, native_comm = resolve(comm)
    per_id, keys = _core.read_partition_keys(together(native_comm, lambda: os.fspath(folder)), native_comm)
    return keys.reshape(-1, per_id)


def to_ids(values: "ArrayLike", name: str) -> np.ndarray:
    """Convert integers to a contiguous int64 row."""
    ids = np.asarray(values)
    if ids.size == 0:
        return np.empty(0, np.int64)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name} are {ids.dtype}: pass whole numbers")
    if ids.ndim != 1:
        raise ValueError(f"{name} has shape {ids.shape}: pass one row of global ids")
    if ids.dtype == np.uint64 and ids.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} has an id beyond 64-bit signed integers")
    return np.ascontiguousarray(ids, np.int64)


def to_numbers(values: "ArrayLike", name: str) -> np.ndarray:
    """Convert cells or ranks to an int32 row, in which invalid ones stay invalid."""
    return np.clip(to_ids(values, name), -2, 2**31 - 1).astype(np.int32)


def _mapped(function: Callable[[np.ndarray], np.ndarray], values: "ArrayLike", name: str) -> np.ndarray:
    array = np.asarray(values)
    return function(to_ids(array.ravel(), name)).reshape(array.shape)

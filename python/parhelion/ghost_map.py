"""Which rows a rank owns and which ghost rows it has, for arrays of any layout."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arguments import integer
from ._together import resolve, together, total
from .indexed import IndexedDomain, to_ids
from .pattern import Pattern

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


class GhostMap(IndexedDomain):
    """An indexed domain together with its pattern; any number of arrays share it, whatever their rows look like.

    Local numbering: owned rows, then ghosts. A ghost may be a row that this rank owns itself, and may be asked for twice.
    `pull` and `push` make one; both are collective. All that an `IndexedDomain` tells (`global_of`, `local_of`,
    `owners_of`, `ghost_ids`, …) a map tells too.

        cells = ph.GhostMap.pull(1000, [2005, 17])       # these global rows become ghosts, in this order
        cells = ph.GhostMap.push(1000, [0, 0], [1, 2])   # owned row 0 becomes a ghost on ranks 1 and 2
    """

    def __init__(self, domain: IndexedDomain) -> None:
        self._adopt(domain, _core.GhostMap(domain._native))

    def _adopt(self, domain: IndexedDomain, native: "_core.GhostMap") -> None:
        self._comm, self._native_comm, self._map, self._native = domain._comm, domain._native_comm, native, native.domain

    @classmethod
    def pull(cls, owned: "int | ArrayLike", ghosts: "ArrayLike" = (), comm: "Intracomm | None" = None) -> "GhostMap":
        """The reader decides: these global rows become its ghosts, in this order, duplicates allowed. Collective.

        `owned` is how many rows this rank owns, where ranks own blocks in rank order, or the global ids of its rows.
        Raises ValueError or TypeError on every rank for a ghost that does not exist, or a row that two ranks own.
        """
        return cls(_domain(owned, ghosts, comm))

    @classmethod
    def push(
        cls, owned: "int | ArrayLike", rows: "ArrayLike", ranks: "ArrayLike", comm: "Intracomm | None" = None
    ) -> "GhostMap":
        """The owner decides: its owned row `rows[i]` (a local number) becomes a ghost on `ranks[i]`. Collective.

        A row may go to several ranks. Ghosts stand in the order of the ranks that sent them, those of one rank as it named
        them; `ghost_ids` tells which came. `owned` as for `pull`. Raises ValueError or TypeError on every rank for rows or
        ranks that do not exist.
        """
        owners = _domain(owned, (), comm)
        which, where = together(owners._native_comm, lambda: (to_ids(rows, "rows"), to_ids(ranks, "ranks")))
        made = cls.__new__(cls)
        made._adopt(owners, _core.GhostMap.push(owners._native, which, where))
        return made

    @property
    def pattern(self) -> Pattern:
        """What each rank sends to and receives from each neighbor."""
        return Pattern(self._map.pattern)

    @property
    def owned_ids(self) -> np.ndarray:
        """Global id of each owned row, int64; a copy."""
        return self.global_of(np.arange(self.owned))

    def __reduce__(self) -> Any:
        raise TypeError("a map cannot be pickled: it belongs to its ranks; pickle owned_ids and ghost_ids, and pull them again")

    def __repr__(self) -> str:
        return f"GhostMap(rank {self._native_comm.rank}: {self.owned} owned of {self.global_size} rows, {self.ghosts} ghosts)"


def _domain(owned: "int | ArrayLike", ghosts: "ArrayLike", comm: "Intracomm | None") -> IndexedDomain:
    """Blocks or ids; every rank must have said the same."""
    comm, native = resolve(comm)
    by_count = np.ndim(owned) == 0
    if 0 < total(native, by_count)[0] < native.size:
        raise ValueError("some ranks give the number of their rows and others their global ids: give the same on every rank")
    if not by_count:
        return IndexedDomain.with_owned_ids(owned, ghosts, comm, self_ghosts=True)
    count = together(native, lambda: integer(owned, "owned", 64))
    return IndexedDomain(count, ghosts, comm, self_ghosts=True)

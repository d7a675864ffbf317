"""Rows that go to other ranks: particles, work that is balanced anew."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.handles import not_pickled
from ..base.together import resolve, together
from ..domain.fields import callable_array
from ..domain.indexed import to_ids

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


class Migration:
    """Sends each row of arrays to the rank that is named for it, where nobody knows beforehand who sends how much to whom.

    Construction is collective the first time for a communicator; `comm` is one of mpi4py, MPI.COMM_WORLD by default.

        migrate = ph.Migration()
        x, ids = migrate(owner_of(x), x, ids)     # x: (n, 3), ids: (n,); then those that came here
    """

    __reduce__ = not_pickled

    def __init__(self, comm: "Intracomm | None" = None) -> None:
        self._comm, self._native_comm = resolve(comm)
        self._native = _core.Migration(self._native_comm)

    def __call__(self, ranks: "ArrayLike", *arrays: "ArrayLike") -> Any:
        """Row i of each array goes to `ranks[i]`, which may be this rank; −1: to nobody. Collective.

        All arrays go in one message from each rank to each that gets rows of it. A rank may send none, of arrays with the dtypes and components of the
        others. Returns new arrays, or one, with the rows that came: by the rank that sent them, those of one rank in the order in which it named them.

        Raises ValueError or TypeError on every rank for ranks that do not exist, arrays without a row for each of `ranks`, dtypes or components that
        differ between ranks.
        """
        to, rows = together(self._native_comm, lambda: _read(ranks, arrays))
        count = self._native.send(to, rows, callable_array)
        came = tuple(np.empty((count, *each.shape[1:]), each.dtype) for each in rows)
        self._native.receive(count, came, callable_array)
        return came if len(came) > 1 else came[0]

    @property
    def sources(self) -> np.ndarray:
        """The rank that each row of the last call came from, int32."""
        return self._native.sources()

    def __repr__(self) -> str:
        return f"<Migration among {self._native_comm.size} ranks>"


def _read(ranks: "ArrayLike", arrays: "tuple[ArrayLike, ...]") -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    to, rows = to_ids(ranks, "ranks"), tuple(np.require(each, requirements=["C", "W", "E"]) for each in arrays)
    if not rows:
        raise ValueError("no arrays were passed: name at least one")
    for number, each in enumerate(rows):
        if each.dtype.hasobject:
            raise TypeError(f"array {number} holds Python objects, which cannot be sent: use numbers or structures of numbers")
        if each.shape[:1] != to.shape:
            raise ValueError(f"array {number} has shape {each.shape} and there are {to.size} ranks: pass one rank for each row")
        if not math.prod(each.shape[1:]) * each.itemsize:
            raise ValueError(f"array {number} has no components: pass at least 1")
    return to, rows

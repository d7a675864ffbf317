"""Migration of rows to other ranks: particles, load balancing."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.handles import not_pickled
from ..base.together import resolve, together
from ..domain.fields import require_values
from ..domain.indexed import to_numbers

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


class Migration:
    """Send rows of arrays to given ranks; receivers need not know senders or counts.

    Construction is collective the first time for a communicator; `comm` is one of mpi4py, MPI.COMM_WORLD by default.

        migrate = ph.Migration()
        x, ids = migrate(owner_of(x), x, ids)     # x: (n, 3), ids: (n,); then the received rows
    """

    __reduce__ = not_pickled

    def __init__(self, comm: "Intracomm | None" = None) -> None:
        self._comm, self._native_comm = resolve(comm)
        self._native = _core.Migration(self._native_comm)

    def __call__(self, ranks: "ArrayLike", *arrays: "ArrayLike") -> Any:
        """Send row i of each array to `ranks[i]`, possibly this rank; −1 drops it. Collective.

        One message per pair of ranks carries the rows of all arrays. A rank without rows passes empty arrays of the same dtypes and components.
        Returns one new array, or several, of the received rows, in order of the sending rank, then in its order.

        Raises ValueError or TypeError on every rank for ranks that do not exist, arrays without a row for each of `ranks`, and dtypes or components
        that differ between ranks.
        """
        to, rows = together(self._native_comm, lambda: _read(ranks, arrays))
        kinds = " ".join(f"{each.dtype if each.dtype.names else each.dtype.str}{list(each.shape[1:]) or ''}" for each in rows)
        came = self._native.send(
            to, rows, kinds, lambda count: tuple(np.empty((count, *each.shape[1:]), each.dtype) for each in rows)
        )
        return came if len(came) > 1 else came[0]

    @property
    def sources(self) -> np.ndarray:
        """Sending rank of each row of the last call, int32."""
        return self._native.sources()

    def __repr__(self) -> str:
        return f"<Migration among {self._native_comm.size} ranks>"


def _read(ranks: "ArrayLike", arrays: "tuple[ArrayLike, ...]") -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    to = to_numbers(ranks, "ranks")
    for number, each in enumerate(arrays):
        require_values(np.asanyarray(each), f"array {number}")
    rows = tuple(np.require(each, requirements=["C", "W", "E"]) for each in arrays)
    if not rows:
        raise ValueError("no arrays were passed: name at least one")
    for number, each in enumerate(rows):
        if each.shape[:1] != to.shape:
            raise ValueError(f"array {number} has shape {each.shape} and there are {to.size} ranks: pass one rank for each row")
        if not math.prod(each.shape[1:]) * each.itemsize:
            raise ValueError(f"array {number} has no components: pass at least 1")
    return to, rows

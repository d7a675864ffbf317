"""Filling the ghost rows of arrays; those beyond a periodic end may have their axes turned."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.arguments import integer, time_limit, transport_name
from ..base.together import together
from ..domain.indexed import to_ids
from .rows import Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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


class GhostExchange(_core.GhostExchange):
    """Fills the ghost rows of arrays of one map, or gives the ghosts' contributions back to the owners.

    All arrays travel in one message per neighbor, whatever their layouts and dtypes. Construction is collective; it fetches
    the sizes of ragged ghost rows. Then a rank waits for its neighbors only. An array that was compressed or rebound since
    is noticed: every rank raises ValueError until `refresh`. Other Python threads run while it waits.

    Parameters
    ----------
    arrays: GhostArrays of one map. They are kept alive.
    transport: "auto", a name that `ph.transports()` lists, or "NEAR+FAR"; None: PARHELION_TRANSPORT, else "auto".
    timeout: seconds after which waiting is an error. None: PARHELION_TIMEOUT, else never.

    Raises ValueError or TypeError on every rank for arrays of different maps, or that differ between ranks.

        exchange = ph.GhostExchange(velocity, neighbors)
        with exchange.begin():
            update_interior()
    """

    def __init__(self, *arrays: Rows, transport: str | None = None, timeout: float | None = None) -> None:
        known = next((array for array in arrays if isinstance(array, Rows)), None)
        if known is None:
            raise TypeError("no GhostArray was passed: pass those whose ghosts the exchange fills")

        def parse() -> tuple[Any, ...]:
            for number, array in enumerate(arrays):
                if not isinstance(array, Rows):
                    raise TypeError(f"array {number} is a {type(array).__name__}: pass GhostArrays, or use ph.Exchange for others")
            return [array._native for array in arrays], transport_name(transport), time_limit(timeout)

        super().__init__(*together(known._comm, parse), arrays)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as they were passed."""
        passed: tuple[Any, ...] = self.kept_alive
        return passed

    def on_arrival(self, hook: Callable[[], object], reverse: Callable[[], object] | None = None) -> None:
        """Calls `hook` after every forward exchange, to transform ghosts in place. Local; register it on every rank.

        `reverse` is its transpose, called on the ghosts before a reverse exchange, after which they get their values back;
        without it a reverse exchange is refused.
        """
        if not callable(hook) or not (reverse is None or callable(reverse)):
            raise TypeError("a hook is a function without arguments")
        self._on_arrival(hook, reverse)

    def rotate(self, array: Rows, matrix: "ArrayLike", ghosts: "ArrayLike | None" = None, first: int = 0, order: int = 1) -> None:
        """Rotates ghosts of `array` on arrival, as beyond a periodic end that is turned; back before a reverse exchange.

        `ghosts` are positions among the ghosts (None: all). In each row (the last axis, flattened) the d numbers from `first`
        are a vector (`order` 1), or the d² numbers are a tensor (`order` 2), d being the size of the square `matrix`.
        """
        turn = Rotation(self, array, matrix, ghosts, integer(first, "first"), integer(order, "order"))
        self.on_arrival(turn.arrive, turn.depart)


def fill_ghosts(*arrays: Rows) -> None:
    """Fills the ghost rows of arrays of one map, once. Collective; for several times make a GhostExchange, which is quicker.

    u = ph.GhostArray(cells); ph.fill_ghosts(u)
    """
    GhostExchange(*arrays, transport="mpi")()

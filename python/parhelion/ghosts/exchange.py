"""Filling the ghost rows of arrays."""

from collections.abc import Callable
from typing import Any

from .. import _core
from ..base.arguments import exchange_options
from ..base.handles import not_pickled
from ..base.together import together
from .rows import Rows


class GhostExchange(_core.GhostExchange):
    """Fills the ghost rows of arrays of one map, or gives the ghosts' contributions back to the owners.

    All arrays travel in one message per neighbor, whatever their layouts and dtypes. Construction is collective; it fetches
    the sizes of ragged ghost rows. Then a rank waits for its neighbors only. An array that was compressed or rebound since
    is noticed: every rank raises ValueError until `refresh`. Other Python threads run while it waits.

    Args:
        arrays: GhostArrays of one map. They are kept alive.
        transport: "auto", a name that `ph.transports()` lists, or "NEAR+FAR"; None: PARHELION_TRANSPORT, else "auto".
        timeout: seconds after which waiting is an error. None: PARHELION_TIMEOUT, else never.

    Raises ValueError or TypeError on every rank for arrays of different maps, or that differ between ranks.

        exchange = ph.GhostExchange(velocity, neighbors)
        with exchange.begin():
            update_interior()
    """

    __reduce__ = not_pickled

    def __init__(self, *arrays: Rows, transport: str | None = None, timeout: float | None = None) -> None:
        known = next((array for array in arrays if isinstance(array, Rows)), None)
        if known is None:
            raise TypeError("no GhostArray was passed: pass those whose ghosts the exchange fills")

        def parse() -> tuple[Any, ...]:
            for number, array in enumerate(arrays):
                if not isinstance(array, Rows):
                    raise TypeError(f"array {number} is a {type(array).__name__}: pass GhostArrays, or use ph.Exchange for others")
            return [array._native for array in arrays], exchange_options(transport, timeout)

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


def fill_ghosts(*arrays: Rows) -> None:
    """Fills the ghost rows of arrays of one map, once. Collective; for several times make a GhostExchange, which is quicker.

    u = ph.GhostArray(cells); ph.fill_ghosts(u)
    """
    GhostExchange(*arrays, transport="mpi")()

"""The halo exchange itself."""

from typing import Any

from .. import _core
from ..base.arguments import time_limit, transport_name
from ..base.together import together
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain
from .fields import callable_array, passed_places, read_arrays, split_components
from .pattern import Pattern, build_pattern


class Exchange(_core.Exchange):
    """Refreshes the ghosts of arrays, or gives the ghosts' contributions back to the owners.

    Construction is collective: it checks that all ranks agree, compiles the copies, and sets up transports. Then
    `exchange()` fills every ghost with its owner's value; a rank waits for its neighbors only. `exchange(u2, v2)` does so for
    other arrays of the same shapes, strides and dtypes, without further set-up. Every rank begins and ends an exchange the same number of times; different exchanges may be under way at once. Other Python threads run
    while it waits.

    Parameters
    ----------
    source: a CartesianDomain, an IndexedDomain, or a Pattern, which several exchanges can share.
    arrays: NumPy arrays or objects with DLPack or a buffer, any strides, in host memory and writable. Their memory is
        used in place; the exchange keeps them alive. Cartesian: cells with halo in the first axes, components after them;
        a list of arrays where ranks have several blocks; narrower halos than the domain's are allowed, none at all has
        to be told by a Field. Indexed: owned cells, then ghosts along the first axis, or a pair (owned, ghosts). Different
        arrays share no cells. All fields for a neighbor travel together.
    transport: "auto", a name that `ph.transports()` lists, or "NEAR+FAR" for neighbors on the own node and others.
        None: the environment variable PARHELION_TRANSPORT, else "auto".
    timeout: seconds after which waiting is an error that says who did not answer. None: PARHELION_TIMEOUT, else never.
    parts: into how many parts the owned cells are divided for `begin_parts`, equal on all ranks.

    Raises ValueError or TypeError on every rank for arrays that do not fit, that share cells, or differ between ranks in number,
    dtype, components or halo. ExchangeTimeoutError after the time limit; the exchange cannot be used any more then.

        exchange = ph.Exchange(domain, u, v)
        with exchange.begin():
            update_interior(u, v)
    """

    def __init__(
        self,
        source: CartesianDomain | IndexedDomain | Pattern,
        *arrays: Any,
        transport: str | None = None,
        timeout: float | None = None,
        parts: int = 1,
    ) -> None:
        pattern = source if isinstance(source, Pattern) else build_pattern(source)
        native = pattern._native

        def parse() -> tuple[Any, ...]:
            return read_arrays(native, arrays), transport_name(transport), time_limit(timeout), _count(parts)

        read, name, seconds, count = together(native.communicator, parse)
        split = split_components(native.communicator, read)
        fields = [field.native() for parts in split for field in parts]
        kept = [array for each in read for array in each.arrays]
        super().__init__(native, fields, name, seconds, count, (arrays, kept), passed_places(split), callable_array)
        self._pattern = pattern

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as they were passed."""
        passed: tuple[Any, ...] = self.kept_alive[0]
        return passed

    @property
    def pattern(self) -> Pattern:
        """The pattern that it follows."""
        return self._pattern

    def part(self, part: int, block: int = 0) -> tuple[slice, ...]:
        """Which owned cells part `part` consists of: an index into the owned cells of a block, as `u.owned[exchange.part(0)]`.

        Equal shares of the axis that changes slowest in memory; of the owned cells of an indexed domain. Local.
        ValueError when there is no such part or block.
        """
        dimension, first, last = self._part(part, block)
        return (*[slice(None)] * dimension, slice(first, last))

    def __repr__(self) -> str:
        return f"<Exchange of {len(self.arrays)} arrays by {self.transport}>"


def _count(parts: Any) -> int:
    if isinstance(parts, bool) or not isinstance(parts, int):
        raise TypeError(f"parts is {parts!r}: pass a number of parts")
    if not 1 <= parts <= 4096:
        raise ValueError(f"an exchange cannot have {parts} parts: use 1 to 4096")
    return parts

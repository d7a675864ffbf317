"""The halo exchange itself."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from .. import _core
from ..base.arguments import time_limit, transport_name
from ..base.together import together
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain
from .fields import callable_array, passed_places, read_groups, split_components
from .pattern import Pattern, build_pattern

Source = CartesianDomain | IndexedDomain | Pattern


class Exchange(_core.Exchange):
    """Refreshes the ghosts of arrays, or gives the ghosts' contributions back to the owners.

    Construction is collective: it checks that all ranks agree, compiles the copies, and sets up transports. Then
    `exchange()` fills every ghost with its owner's value; a rank waits for its neighbors only. `exchange(u2, v2)` does so for
    other arrays of the same shapes, strides and dtypes, without further set-up; arrays of groups are named one after another.
    Every rank begins and ends an exchange the same number of times; different exchanges may be under way at once. Other Python
    threads run while it waits.

    Parameters
    ----------
    source: a CartesianDomain, an IndexedDomain, or a Pattern, which several exchanges can share. Or a list of groups, each a tuple
        (source, *arrays): their arrays travel together, one message for each neighbor. All sources have one communicator.
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

        both = ph.Exchange([(cells, u, v), (nodes, x)])
        both(u2, v2, x2)
    """

    def __init__(
        self,
        source: Source | Sequence[tuple[Any, ...]],
        *arrays: Any,
        transport: str | None = None,
        timeout: float | None = None,
        parts: int = 1,
    ) -> None:
        sources, passed = _groups(source, arrays)
        comm = _communicator(sources[0])
        comm.require_equal("the groups", "their number", len(sources), "pass as many groups on every rank")
        if len(sources) > 1:
            together(comm, lambda: [_communicator(each) for each in sources])
        self._patterns = tuple(each if isinstance(each, Pattern) else build_pattern(each) for each in sources)
        natives = [pattern._native for pattern in self._patterns]

        def parse() -> tuple[Any, ...]:
            return read_groups(natives, passed), transport_name(transport), time_limit(timeout), _count(parts)

        read, name, seconds, count = together(comm, parse)
        split = split_components(comm, read)
        groups = [(native, [field.native() for field in chain(*fields)]) for native, fields in zip(natives, split, strict=True)]
        kept = [array for group in read for each in group for array in each.arrays]
        super().__init__(groups, name, seconds, count, (tuple(chain(*passed)), kept), passed_places(split), callable_array)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as they were passed, group by group."""
        passed: tuple[Any, ...] = self.kept_alive[0]
        return passed

    @property
    def pattern(self) -> Pattern:
        """The pattern that it follows; of the first group, where there are several."""
        return self._patterns[0]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The pattern of each group."""
        return self._patterns

    def part(self, part: int, block: int = 0, group: int = 0) -> tuple[slice, ...]:
        """Which owned cells part `part` consists of: an index into the owned cells of a block, as `u.owned[exchange.part(0)]`.

        Equal shares of the axis that changes slowest in memory; of the owned cells of an indexed domain. It is ready when its cells
        of all groups are. Local. ValueError when there is no such part, block or group.
        """
        dimension, first, last = self._part(part, block, group)
        return (*[slice(None)] * dimension, slice(first, last))

    def __repr__(self) -> str:
        return f"<Exchange of {len(self.arrays)} arrays by {self.transport}>"


def _groups(source: Any, arrays: tuple[Any, ...]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The sources of the groups and the arrays of each."""
    if not isinstance(source, (list, tuple)):
        return [source], [arrays]
    if arrays or not source or not all(isinstance(group, (list, tuple)) and group for group in source):
        raise TypeError("groups are passed as one list of tuples: use Exchange([(cells, u, v), (nodes, x)])")
    return [group[0] for group in source], [tuple(group[1:]) for group in source]


def _communicator(source: Any) -> _core.Communicator:
    if not isinstance(source, (CartesianDomain, IndexedDomain, Pattern)):
        raise TypeError(f"a {type(source).__name__} has no pattern: pass a CartesianDomain, an IndexedDomain or a Pattern")
    return source._native.communicator if isinstance(source, Pattern) else source._native_comm


def _count(parts: Any) -> int:
    if isinstance(parts, bool) or not isinstance(parts, int):
        raise TypeError(f"parts is {parts!r}: pass a number of parts")
    if not 1 <= parts <= 4096:
        raise ValueError(f"an exchange cannot have {parts} parts: use 1 to 4096")
    return parts

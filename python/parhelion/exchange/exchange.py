"""Halo exchange and its transports."""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import _core
from ..base.arguments import Sides, choice, exchange_options, halo_sides, widths_of
from ..base.handles import not_pickled
from ..base.together import setup_limit, together
from ..domain.cartesian import NEIGHBORS, CartesianDomain
from ..domain.indexed import IndexedDomain
from ..domain.fields import components_of, passed_places, read_groups, split_components
from .pattern import Pattern, pattern_of
from .stale import StaleGhosts, stale_from


class Transport(NamedTuple):
    """A transport of this build.

    `reach`: "anywhere", "node" (neighbors on the same node) or "rank" (a rank's own periodic copies). `unavailable`: empty, or why this process
    cannot use it.
    """

    name: str
    description: str
    reach: str
    unavailable: str


def transports() -> list[Transport]:
    """All transports of this build, usable here or not. Local."""
    return [Transport(name, text, ("anywhere", "node", "rank")[scope], why) for name, text, scope, why in _core.transports()]


Source = CartesianDomain | IndexedDomain | Pattern
Depth = int | Sequence[int | tuple[int, int]]


class Exchange(_core.Exchange):
    """Halo exchange of arrays, and its adjoint: `reverse` returns the ghosts' contributions to the owners.

    Construction is collective: it checks that all ranks agree, compiles the copies, and sets up transports. `exchange()` fills every ghost with
    its owner's value; a rank waits only for its neighbors. `exchange(u2, v2)` exchanges other arrays of the same shapes, strides and dtypes
    without set-up; arrays of groups follow one after another. Every rank begins and ends an exchange equally often; different exchanges may be
    in progress at once. Waiting releases the GIL.

    Args:
        source: a CartesianDomain, an IndexedDomain, or a Pattern, which several exchanges can share. Or a list of groups, tuples (source, *arrays)
            on one communicator: their arrays travel together, in one message per neighbor.
        arrays: writable NumPy arrays or objects with DLPack or a buffer, of any strides, or GPU arrays with the CUDA Array Interface or DLPack,
            all on one device; a call with a `stream` is ordered in it, one without waits for the device. The exchange uses their memory
            in place and keeps it alive. It does not see rebinding such as `u = u + 1`: write `u[...] = u + 1`, or pass the new array to the call.
            Cartesian: cells with halo in the first axes, then components; a list of arrays if ranks have several blocks. Halos may be narrower
            than the domain's; an array without halo needs a Field. Stagger and depth may differ between arrays: those of `domain.zeros` know
            theirs, a Field specifies them for others. Indexed: owned cells, then ghosts along the first axis, or a pair (owned, ghosts).
            Arrays must not share cells. One message per neighbor carries all fields.
        transport: "auto", a name from `ph.transports()`, or "NEAR+FAR" for neighbors on the same node and on others.
            None: the environment variable PARHELION_TRANSPORT, else "auto".
        timeout: seconds to wait before an error that names the missing ranks. None: PARHELION_TIMEOUT, else no limit.
        check: checked mode, equal on all ranks; False reads PARHELION_CHECK (1: yes). If a rank and its neighbor make different calls (direction,
            reduction, fields, depth), both get an Error that names the two calls, instead of waiting. During an exchange the ghosts to fill hold
            signalling NaNs, or bytes of 0xdb; if the program writes owned cells meanwhile (reverse: ghosts), its rank gets a ValueError at the
            end. `timeout` defaults to 30 s. Each call costs additional messages and copies.
        overlap: work will run between begin and end, and "auto" benchmarks that. Equal on all ranks. False: PARHELION_OVERLAP (1: yes).
        at_once: promise that all ranks only call the exchange, never begin it, and that none waits for another rank's call to return before its
            own. "auto" then also tries dimension by dimension and node-aware exchange. Equal on all ranks. `begin` raises ValueError.
        vector: a tuple of arrays, the components of a vector along the axes with seams, in the order of the axes; or a list of such tuples.
            Beyond a seam that rotates axes, each component takes the values of the component along the axis there, with its sign. They follow
            the other arrays. In groups, pass Field(u, vector=1, along=0).

    Raises ValueError or TypeError on every rank for arrays that do not fit, that share cells, or differ between ranks in number, dtype,
    components or halo. Raises ExchangeTimeoutError after the time limit; the exchange is unusable afterwards.

        exchange = ph.Exchange(domain, u, v)
        with exchange.begin():
            update_interior(u, v)

        both = ph.Exchange([(cells, u, v), (nodes, x)])
        both(u2, v2, x2)
    """

    __reduce__ = not_pickled

    def __init__(
        self,
        source: Source | Sequence[tuple[Any, ...]],
        *arrays: Any,
        transport: str | None = None,
        timeout: float | None = None,
        check: bool = False,
        overlap: bool = False,
        at_once: bool = False,
        vector: Any = (),
    ) -> None:
        sources, passed = _groups(source, arrays)
        comm = _communicator(sources[0])
        limit = setup_limit(timeout, check)
        comm.require_equal("Exchange", limit, "the groups", "their number", len(sources), "pass the same number of groups on every rank")
        if len(sources) > 1:
            together(comm, lambda: [_communicator(each) for each in sources], limit)
        self._sources = tuple(pattern_of(each, limit) if isinstance(each, IndexedDomain) else each for each in sources)
        self._patterns: list[Pattern] = []  # built on first access
        natives = [each._native for each in self._sources]
        read_from = [each if isinstance(each, CartesianDomain) else each._native for each in self._sources]

        def parse() -> tuple[Any, ...]:
            if vector:
                passed[0] = (*passed[0], *components_of(self._sources[0], vector, passed[0]))
            return read_groups(read_from, passed), exchange_options(transport, timeout, check=check, overlap=overlap, at_once=at_once)

        read, options = together(comm, parse, limit)
        split = split_components(comm, read, limit)
        groups = [(native, [field.native() for field in chain(*fields)]) for native, fields in zip(natives, split, strict=True)]
        kept = [array for group in read for each in group for array in each.arrays]
        self._split = list(chain(*split))
        self._subsets: dict[Any, Exchange] = {}
        super().__init__(groups, options, (tuple(chain(*passed)), kept), passed_places(self._split), self._split[0][0].on_device)

    def only(
        self, fields: Sequence[int] | None = None, depth: Depth | None = None, neighbors: Literal["full", "faces"] = "full"
    ) -> "Exchange":
        """The exchange of a subset: some of the arrays, a smaller depth, some sides, or faces only.

        It works like any other exchange, with arrays in the order of `fields`, and may be in progress beside the full exchange and other subsets
        that share no cells with it. This call is local; equal subsets return the same object. The first exchange (or `prepare`) is collective: it
        sets up the full exchange's transports, without benchmarks.

        Args:
            fields: numbers of the arrays, from 0, in the order of the constructor, group after group. None: all.
            depth: ghost layers to fill (reverse: to return), counted from the owned cells: one number, one per dimension, or (lower, upper) pairs. At
                most the widest halo; narrower arrays use their own. None: the depth of the full exchange.
            neighbors: "faces" excludes ghosts beyond two sides or more. Not for arrays on points.

        Raises ValueError or TypeError for arrays that do not exist or are named twice, for depths beyond the halos, and for faces of points.

            exchange.only(fields=[0, 2], depth=1)(u, w)
            exchange.only(depth=((1, 0), 0))()      # ghosts at the lower end of the first axis
        """
        numbers = tuple(range(len(self._split))) if fields is None else _numbers(fields, len(self._split))
        sides = () if depth is None else halo_sides(depth, self._dimensions(numbers))
        if any(width < 0 for side in sides for width in side):
            raise ValueError(f"a depth of {depth!r}: pass 0 or more ghosts, or leave it out for all of them")
        subset = numbers, sides, NEIGHBORS.index(choice(neighbors, "neighbors", NEIGHBORS))
        if subset not in self._subsets:
            self._subsets[subset] = self._subset(*subset)
        return self._subsets[subset]

    def _dimensions(self, numbers: Sequence[int]) -> int:
        dimensions = max(0 if self._split[number][0].halo is None else self._split[number][0].dimensions for number in numbers)
        if dimensions == 0:
            raise ValueError("arrays of index maps have no depth: leave it out, or name an array of a grid")
        return dimensions

    def _subset(self, numbers: tuple[int, ...], sides: Sides, neighbors: int) -> "Exchange":
        first = [0, *accumulate(len(fields) for fields in self._split)]
        native = [each for number in numbers for each in range(first[number], first[number + 1])]
        subset = Exchange.__new__(Exchange)
        subset._sources, subset._patterns, subset._subsets = self._sources, self._patterns, {}
        subset._split = [self._split[number] for number in numbers]
        arrays = tuple(self.arrays[number] for number in numbers)
        depth = widths_of(sides) if sides else ([-1] * 4, [-1] * 4, 0)  # all layers
        places, on_device = passed_places(subset._split), self._split[0][0].on_device
        _core.Exchange.__init__(subset, self, native, depth, neighbors, (arrays, self.kept_alive), places, on_device)
        return subset

    def stale(self, *arrays: Any) -> StaleGhosts:
        """This rank's ghosts that differ bytewise from their owners' values, of all that a call would fill. Collective.

        `arrays` as in a call, only read. The first call allocates memory of their size and sets up an exchange over MPI. The result is false if
        there are none: `if exchange.stale(): …`. Raises ValueError while the exchange is in progress.
        """
        return stale_from(self._stale(*arrays), [number for number, fields in enumerate(self._split) for _ in fields])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The constructor's arrays, group by group."""
        passed: tuple[Any, ...] = self.kept_alive[0]
        return passed

    @property
    def pattern(self) -> Pattern:
        """The pattern of the first group; also for arrays on points, the pattern of cells."""
        return self.patterns[0]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The pattern of each group."""
        if not self._patterns:
            self._patterns.extend(pattern_of(each) if isinstance(each, CartesianDomain) else each for each in self._sources)
        return tuple(self._patterns)

    def __repr__(self) -> str:
        return f"<Exchange of {len(self.arrays)} arrays by {self.transport}>"


def _groups(source: Any, arrays: tuple[Any, ...]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Sources and arrays of the groups."""
    if not isinstance(source, (list, tuple)):
        return [source], [arrays]
    if arrays or not source or not all(isinstance(group, (list, tuple)) and group for group in source):
        raise TypeError("groups are passed as one list of tuples: use Exchange([(cells, u, v), (nodes, x)])")
    return [group[0] for group in source], [tuple(group[1:]) for group in source]


def _communicator(source: Any) -> _core.Communicator:
    if not isinstance(source, (CartesianDomain, IndexedDomain, Pattern)):
        raise TypeError(f"a {type(source).__name__} has no pattern: pass a CartesianDomain, an IndexedDomain or a Pattern")
    return source._native.communicator if isinstance(source, Pattern) else source._native_comm


def _numbers(fields: Any, count: int) -> tuple[int, ...]:
    numbers = (fields,) if isinstance(fields, (int, np.integer)) else tuple(fields)
    if not numbers:
        raise ValueError("no array is named: name at least one, or leave fields out for all of them")
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise TypeError(f"{number!r} is not the number of an array: count from 0, in the constructor's order")
        if not 0 <= number < count:
            raise ValueError(f"there is no array {number} in this exchange: it has arrays 0 to {count - 1}")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"an array is named twice in {numbers}: name each once")
    return tuple(int(number) for number in numbers)

"""The halo exchange itself, and what can move the data."""

import os
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import _core
from ..base.arguments import Sides, choice, exchange_options, halo_sides
from ..base.handles import not_pickled
from ..base.together import together
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain
from ..domain.fields import callable_array, callable_on_device, components_of, passed_places, read_groups, split_components
from .pattern import Pattern, build_pattern
from .stale import StaleGhosts, stale_from


class Transport(NamedTuple):
    """A transport that this build knows. `reach` is "anywhere", "node" (neighbors on the own node) or "rank" (a rank's own
    periodic images); `unavailable` is empty where it works, else why it does not."""

    name: str
    description: str
    reach: str
    unavailable: str


def transports() -> list[Transport]:
    """All transports, those that can be used here and the others. Local."""
    return [Transport(*entry) for entry in _core.transports()]


Source = CartesianDomain | IndexedDomain | Pattern
Depth = int | Sequence[int | tuple[int, int]]


class Exchange(_core.Exchange):
    """Refreshes the ghosts of arrays, or gives the ghosts' contributions back to the owners.

    Construction is collective: it checks that all ranks agree, compiles the copies, and sets up transports. Then
    `exchange()` fills every ghost with its owner's value; a rank waits for its neighbors only. `exchange(u2, v2)` does so for
    other arrays of the same shapes, strides and dtypes, without further set-up; arrays of groups are named one after another.
    Every rank begins and ends an exchange the same number of times; different exchanges may be under way at once. Other Python
    threads run while it waits.

    Args:
        source: a CartesianDomain, an IndexedDomain, or a Pattern, which several exchanges can share. Or a list of groups, each a tuple
            (source, *arrays): their arrays travel together, one message for each neighbor. All sources have one communicator.
        arrays: NumPy arrays or objects with DLPack or a buffer, any strides, writable. Or arrays on a GPU, by the CUDA Array Interface or
            DLPack, all of them on one device; calls order themselves with a `stream`, without which they wait for the device. Their memory is
            used in place; the exchange keeps them alive. `u = u + 1` makes another array, which it does not know: write
            `u[...] = u + 1`, or name the array at the call. Cartesian: cells with halo in the first axes, components after them;
            a list of arrays where ranks have several blocks; narrower halos than the domain's are allowed, none at all has
            to be told by a Field. They may differ in stagger and depth, which arrays of `domain.zeros` know and a Field tells. Indexed: owned cells, then ghosts along the first axis, or a pair (owned, ghosts). Different
            arrays share no cells. All fields for a neighbor travel together.
        transport: "auto", a name that `ph.transports()` lists, or "NEAR+FAR" for neighbors on the own node and others.
            None: the environment variable PARHELION_TRANSPORT, else "auto".
        timeout: seconds after which waiting is an error that says who did not answer. None: PARHELION_TIMEOUT, else never.
        check: checked mode. A rank that makes another call than its neighbor (direction, reduction, fields, depth) gets an Error that
            says who asked for what, as does the neighbor, instead of both waiting. Ghosts hold signalling NaNs, or bytes of 0xdb, while
            an exchange that fills them is under way, and owned cells that are written meanwhile (reverse: ghosts) are a ValueError of this
            rank at the end. Without `timeout` there is one of 30 s. Takes some messages and copies for each call. Equal on all ranks.
            False: as the environment variable PARHELION_CHECK says (1: yes).
        overlap: the exchange will be begun and ended around work, and "auto" measures it so. Equal on all ranks. False: as
            PARHELION_OVERLAP says (1: yes).
        at_once: a promise that the exchange is called only, never begun, by all ranks, none of which waits for another one's call to
            return before its own: then "auto" tries to go dimension by dimension and node by node, too. Equal on all ranks. `begin` raises
            ValueError.

        vector: the components of a vector along the axes in which the domain's seams lie, in the order of the axes, a tuple of arrays as
            those above; or a list of such tuples, for several vectors. Beyond a seam that turns axes each component has the values of
            the one along the axis there, with its sign. They come behind the other arrays. In groups, pass Field(u, vector=1, along=0).

    Raises ValueError or TypeError on every rank for arrays that do not fit, that share cells, or differ between ranks in number,
    dtype, components or halo. ExchangeTimeoutError after the time limit; the exchange cannot be used any more then.

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
        limit = _limit(timeout, check)
        comm.require_equal("the groups", "their number", len(sources), "pass as many groups on every rank", "Exchange", limit)
        if len(sources) > 1:
            together(comm, lambda: [_communicator(each) for each in sources], limit)
        self._sources = tuple(build_pattern(each) if isinstance(each, IndexedDomain) else each for each in sources)
        self._patterns: list[Pattern] = []  # filled on first access
        natives = [each._native for each in self._sources]
        read_from = [each if isinstance(each, CartesianDomain) else each._native for each in self._sources]

        def parse() -> tuple[Any, ...]:
            if vector:
                passed[0] = (*passed[0], *components_of(self._sources[0], vector))
            return read_groups(read_from, passed), exchange_options(transport, timeout, check=check, overlap=overlap, at_once=at_once)

        read, options = together(comm, parse, limit)
        split = split_components(comm, read)
        groups = [(native, [field.native() for field in chain(*fields)]) for native, fields in zip(natives, split, strict=True)]
        kept = [array for group in read for each in group for array in each.arrays]
        self._split = list(chain(*split))
        self._subsets: dict[Any, Exchange] = {}
        super().__init__(groups, options, (tuple(chain(*passed)), kept), passed_places(self._split), self._seen_as)

    def only(
        self, fields: Sequence[int] | None = None, depth: Depth | None = None, neighbors: Literal["full", "faces"] = "full"
    ) -> "Exchange":
        """The exchange of a subset: some of the arrays, ghosts less deep or of some sides, or across faces alone.

        It is called, begun and reversed as any other, with arrays for those that it names, in that order, and may be under way
        beside the whole and other subsets that share no cells with it. Local, and equal subsets are one exchange. Its first use is
        collective, for then its transports are made (`prepare` makes that where it suits): those of the whole, without measuring.

        Args:
            fields: numbers of the arrays, from 0, in the order in which they were passed, group after group. None: all.
            depth: how many of the ghosts next to the owned cells are filled (reverse: given back), as a halo is told: one number, one
                per dimension, or pairs of both sides. At most the widest halo; narrower arrays stay as they are. None: as made.
            neighbors: "faces" leaves out ghosts beyond two sides or more. Arrays on points have no faces.

        ValueError or TypeError for arrays that there are not, or are named twice, for depths beyond the halos, and for faces of points.

            exchange.only(fields=[0, 2], depth=1)(u, w)
            exchange.only(depth=((1, 0), 0))()      # what lies below, along the first axis
        """
        numbers = tuple(range(len(self._split))) if fields is None else _numbers(fields, len(self._split))
        sides = () if depth is None else halo_sides(depth, self._dimensions(numbers))
        if any(width < 0 for side in sides for width in side):
            raise ValueError(f"a depth of {depth!r}: pass 0 or more ghosts, or leave it out for all of them")
        subset = numbers, sides, _core.Neighbors[choice(neighbors, "neighbors", _core.Neighbors.__members__)]
        if subset not in self._subsets:
            self._subsets[subset] = self._subset(*subset)
        return self._subsets[subset]

    def _dimensions(self, numbers: Sequence[int]) -> int:
        dimensions = max(0 if self._split[number][0].halo is None else self._split[number][0].dimensions for number in numbers)
        if dimensions == 0:
            raise ValueError("arrays of index maps have no depth: leave it out, or name an array of a grid")
        return dimensions

    def _subset(self, numbers: tuple[int, ...], sides: Sides, neighbors: "_core.Neighbors") -> "Exchange":
        first = [0, *accumulate(len(fields) for fields in self._split)]
        native = [each for number in numbers for each in range(first[number], first[number + 1])]
        subset = Exchange.__new__(Exchange)
        subset._sources, subset._patterns, subset._subsets = self._sources, self._patterns, {}
        subset._split = [self._split[number] for number in numbers]
        arrays = tuple(self.arrays[number] for number in numbers)
        lower, upper = [side[0] for side in sides], [side[1] for side in sides]
        _core.Exchange.__init__(
            subset, self, native, lower, upper, neighbors, (arrays, self.kept_alive), passed_places(subset._split), subset._seen_as
        )
        return subset

    @property
    def _seen_as(self) -> Any:
        return callable_on_device if self._split[0][0].on_device else callable_array

    def stale(self, *arrays: Any) -> StaleGhosts:
        """Which ghosts of this rank differ from their owners' values, byte by byte, of all that a call would fill. Collective.

        `arrays` as in a call; they are read only. The first call takes as much memory as they have, and sets up an exchange over MPI.
        False where there is none: `if exchange.stale(): …`. ValueError while the exchange is under way.
        """
        return stale_from(self._stale(*arrays), [number for number, fields in enumerate(self._split) for _ in fields])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as they were passed, group by group."""
        passed: tuple[Any, ...] = self.kept_alive[0]
        return passed

    @property
    def pattern(self) -> Pattern:
        """The pattern that it follows; of the first group, where there are several, and of cells, where arrays live on points, too."""
        return self.patterns[0]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The pattern of each group."""
        if not self._patterns:
            self._patterns.extend(build_pattern(each) if isinstance(each, CartesianDomain) else each for each in self._sources)
        return tuple(self._patterns)

    def __repr__(self) -> str:
        return f"<Exchange of {len(self.arrays)} arrays by {self.transport}>"


def _groups(source: Any, arrays: tuple[Any, ...]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The sources of the groups and the arrays of each."""
    if not isinstance(source, (list, tuple)):
        return [source], [arrays]
    if arrays or not source or not all(isinstance(group, (list, tuple)) and group for group in source):
        raise TypeError("groups are passed as one list of tuples: use Exchange([(cells, u, v), (nodes, x)])")
    return [group[0] for group in source], [tuple(group[1:]) for group in source]


def _limit(timeout: Any, check: Any) -> float:
    """Of waits for other ranks before they have agreed on the options: what is no time limit is told later, on every rank."""
    known = isinstance(timeout, (int, float)) and timeout > 0
    return max(float(timeout), 5.0) if known else 30.0 if check is True and "PARHELION_TIMEOUT" not in os.environ else 0.0


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
            raise TypeError(f"{number!r} is no number of an array: count them from 0, as they were passed")
        if not 0 <= number < count:
            raise ValueError(f"there is no array {number} in this exchange: it has arrays 0 to {count - 1}")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"an array is named twice in {numbers}: name each once")
    return tuple(int(number) for number in numbers)

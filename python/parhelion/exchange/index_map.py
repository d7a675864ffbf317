"""Which cells a rank owns, which ghosts it has, also from ids of nodes in cells, and exchanges of whatever arrays are named at a call."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.arguments import integer
from ..base.together import resolve, together, total
from ..domain.arrays import Place
from ..domain.indexed import IndexedDomain, to_ids
from ..domain.fields import callable_array
from .pattern import Pattern
from .reduction import Reduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


class IndexMap(IndexedDomain):
    """An indexed domain together with its pattern, and exchanges of any arrays of its cells.

    Local numbering: owned cells, then ghosts. A ghost may be a cell that this rank owns itself, and may be asked for twice.
    `pull` and `push` make one; both are collective. All that an `IndexedDomain` tells (`global_of`, `local_of`,
    `owners_of`, `ghost_ids`, …) a map tells too.

        cells = ph.IndexMap.pull(1000, [2005, 17])       # these global cells become ghosts, in this order
        cells = ph.IndexMap.push(1000, [0, 0], [1, 2])   # owned cell 0 becomes a ghost on ranks 1 and 2
        cells.forward(u, v, kinds)                       # ghosts get their owners' values, in one message per neighbor
    """

    def __init__(self, domain: IndexedDomain) -> None:
        self._adopt(domain, _core.IndexMap(domain._native))

    def _adopt(self, domain: IndexedDomain, native: "_core.IndexMap") -> None:
        self._comm, self._native_comm, self._map, self._native = domain._comm, domain._native_comm, native, native.domain

    @classmethod
    def pull(cls, owned: "int | ArrayLike", ghosts: "ArrayLike" = (), comm: "Intracomm | None" = None) -> "IndexMap":
        """The reader decides: these global cells become its ghosts, in this order, duplicates allowed. Collective.

        `owned` is how many cells this rank owns, where ranks own blocks in rank order, or the global ids of its cells.
        Raises ValueError or TypeError on every rank for a ghost that does not exist, or a cell that two ranks own.
        """
        return cls(_domain(owned, ghosts, comm))

    @classmethod
    def push(
        cls, owned: "int | ArrayLike", rows: "ArrayLike", ranks: "ArrayLike", comm: "Intracomm | None" = None
    ) -> "IndexMap":
        """The owner decides: its owned cell `rows[i]` (a local number) becomes a ghost on `ranks[i]`. Collective.

        A cell may go to several ranks. Ghosts stand in the order of the ranks that sent them, those of one rank as it named
        them; `ghost_ids` tells which came. `owned` as for `pull`. Raises ValueError or TypeError on every rank for cells or
        ranks that do not exist.
        """
        owners = _domain(owned, (), comm)
        which, where = together(owners._native_comm, lambda: (to_ids(rows, "rows"), to_ids(ranks, "ranks")))
        made = cls.__new__(cls)
        made._adopt(owners, _core.IndexMap.push(owners._native, which, where))
        return made

    @classmethod
    def from_neighbor_lists(
        cls,
        ranks: "ArrayLike",
        lists: "Sequence[ArrayLike]",
        received: "Sequence[ArrayLike] | None" = None,
        comm: "Intracomm | None" = None,
        shape: "Sequence[int] | None" = None,
        components_axis: int | None = None,
    ) -> "IndexMap":
        """For codes without global ids: the map of the cells in `lists`, with places. Collective.

        `lists[k]` has the points that this rank and `ranks[k]` share, by their numbers in this rank's arrays, in an order that is the same on
        both ranks. A point of several ranks may be in several lists; the lowest of them owns it. With `received` the lists are of cells that are
        sent, and `received[k]` has those that get the cells of `ranks[k]`. `shape` and `components_axis` as for `placed`.

            nodes = ph.IndexMap.from_neighbor_lists([left, right], [[0, 1], [8, 9]])
            nodes.sum_shared(force)

        Raises ValueError or TypeError on every rank for lists of a pair of ranks that differ in length, naming the ranks, for points that are
        twice in a list, or that the lists make one.
        """
        comm, native = resolve(comm)

        def listed(given: "Sequence[ArrayLike]", name: str) -> list[tuple[int, np.ndarray]]:
            neighbors = to_ids(ranks, "ranks")
            if len(given) != len(neighbors):
                raise ValueError(f"{name} has {len(given)} lists for {len(neighbors)} ranks: pass one for each")
            return [(int(rank), to_ids(cells, f"a list of {name}")) for rank, cells in zip(neighbors, given)]

        def arguments() -> tuple[Any, ...]:
            to_receive = None if received is None else listed(received, "received")
            return listed(lists, "lists"), to_receive, *_extents(shape, components_axis)

        made = cls.__new__(cls)
        made._comm, made._native_comm = comm, native
        made._adopt(made, _core.IndexMap.from_neighbor_lists(native, *together(native, arguments)))
        return made

    def placed(
        self,
        places: "ArrayLike",
        ghost_places: "ArrayLike" = (),
        shape: "Sequence[int] | None" = None,
        components_axis: int | None = None,
    ) -> "IndexMap":
        """The map of the same cells for arrays as they are: owned cell `i` is cell `places[i]` of an array, ghost `i` cell `ghost_places[i]`. Collective.

        Numbers count through the axes `shape` of an array's cells in C order, or along one axis. Arrays may have any strides and, behind the cells'
        axes or in front of number `components_axis` of them, axes of components. Such a map has `forward`, `reverse` and sums of shared points.
        They exchange in place, sums by way of memory of the map's; the layout at the first call for a dtype and number of components is the fast one.

            cells = cells.placed(numbers, ghost_numbers, shape=(blocks, ny, nx), components_axis=1)
            cells.forward(ice, temperature)     # (blocks, ny, nx) and (blocks, levels, ny, nx)

        Raises ValueError or TypeError on every rank for places that are not one for each cell, outside of the shape, or those of two cells.
        """
        arguments = together(
            self._native_comm,
            lambda: (to_ids(places, "places"), to_ids(ghost_places, "ghost_places"), *_extents(shape, components_axis)),
        )
        made = IndexMap.__new__(IndexMap)
        made._adopt(self, self._map.placed(*arguments))
        return made

    def only(self, mask: Any) -> "IndexMap":
        """The ghosts that count alone: a map whose `forward` and `reverse` leave all other ghosts as they are, and send as much less. Collective.

        `mask` is an array of this map's cells, as those of `forward`, with one bool or integer for each: not 0 for ghosts that count. Those of
        owned cells do not matter, and on a rank none may count. Messages go by MPI. A subset has no sums of shared points.

            icy = cells.only(ice > 0)
            icy.forward(u, v)
            icy.update(ice > 0)         # of the next step

        Raises ValueError or TypeError on every rank for a mask that does not fit.
        """
        made = IndexMap.__new__(IndexMap)
        made._adopt(self, self._map.only((mask,), callable_array))
        return made

    def update(self, mask: Any) -> None:
        """Other ghosts count in this subset, which `only` made, from now on. Collective: one short message to each neighbor.

        Raises ValueError or TypeError on every rank for a mask that does not fit, for a map that is no subset, or while a call is under way.
        """
        self._map.update((mask,), callable_array)

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Numbers of the owned cells and of the ghosts in arrays, int32, copies; None where arrays have owned cells, then ghosts."""
        return self._map.places()

    def ragged(self, counts: "ArrayLike") -> "RaggedMap":
        """The entries of rows of any size: owned row `i` of this map has `counts[i]` of them. Collective.

        Raises ValueError or TypeError on every rank for counts that are not one for each owned row, 0 or more.
        """
        return RaggedMap(self, counts)

    def prepare(self, *arrays: Any) -> None:
        """Collective: what the first `forward` or `reverse` of arrays like these would do. Nothing where that is done."""
        self._map.prepare(arrays, callable_array)

    def prepare_shared(self, *arrays: Any) -> None:
        """The same for `sum_shared`, `reduce_shared` and `begin_reduce_shared`."""
        self._map.prepare_shared(arrays, callable_array)

    def forward(self, *arrays: Any) -> None:
        """Owner → ghost, for all arrays in one message per neighbor; they may be others at each call, and of different dtypes.

        An array has owned cells, then ghosts along its first axis, and components behind; or is a pair (owned, ghosts). Components
        of a cell lie next to each other. The first call for a list of dtypes and components is collective, others wait for
        neighbors only. Arrays of `zeros` are exchanged straight, others in place where their cells lie next to each other.

        Raises ValueError or TypeError for arrays that do not fit or share memory, on the rank that passes them; at the first call they
        should fit on every rank.
        """
        self._map.forward(arrays, callable_array)

    def reverse(self, reduction: str | Reduction, *arrays: Any) -> None:
        """Ghost → owner: sum (the adjoint of `forward`), prod, min, max, replace, bit_and, bit_or, or a Reduction of your own.

        In a fixed order, so that floating-point sums repeat bit for bit. Arrays as for `forward`. Ghosts keep their values. TypeError
        where elements cannot be combined so.
        """
        self._map.reverse(reduction, arrays, callable_array)

    def begin_forward(self, *arrays: Any) -> "_core.Step":
        """Starts `forward`. Owned values may change; ghosts are written when the step ends."""
        return self._map.begin_forward("replace", arrays, callable_array)

    def begin_reverse(self, reduction: str | Reduction, *arrays: Any) -> "_core.Step":
        """Starts `reverse`. Ghosts may change; owned values are written when the step ends."""
        return self._map.begin_reverse(reduction, arrays, callable_array)

    def sum_shared(self, *arrays: Any) -> None:
        """Every point that several ranks hold, as owner or as ghosts, gets the sum of all their values on each of them.

        In one round of messages, where `reverse` and `forward` take two, all arrays in one message for each other holder. Values are
        added in ascending order of rank, everywhere alike: all holders get the same bits, in every run. Arrays as for `forward`. The
        first call finds out who holds what, and is collective; ValueError on every rank where one holds a point twice.

            nodes.sum_shared(force, mass)
        """
        self.reduce_shared("sum", *arrays)

    def reduce_shared(self, reduction: str | Reduction, *arrays: Any) -> None:
        """As `sum_shared`, with another reduction; "replace" gives the value of the last rank that holds a point."""
        self._map.reduce_shared(reduction, arrays, callable_array)

    def begin_reduce_shared(self, reduction: str | Reduction, *arrays: Any) -> "_core.Step":
        """Starts `reduce_shared`. Until the step ends, shared points must not be written; others may.

            with nodes.begin_reduce_shared("sum", force):
                update_elsewhere()
        """
        return self._map.begin_reduce_shared(reduction, arrays, callable_array)

    def explain_shared(self, *arrays: Any) -> str:
        """How such arrays were combined: points, holders, messages, and what reverse and forward would take. After the first call."""
        return self._map.explain_shared(arrays, callable_array)

    def _place(self) -> Place:
        if self.places is not None:
            raise ValueError("the map has places, and this is for arrays of owned cells, then ghosts: use the map that it was made from")
        return super()._place()

    @property
    def pattern(self) -> Pattern:
        """What each rank sends to and receives from each neighbor."""
        return Pattern(self._map.pattern)

    @property
    def owned_ids(self) -> np.ndarray:
        """Global id of each owned cell, int64; a copy."""
        return self.global_of(np.arange(self.owned))

    def __repr__(self) -> str:
        return f"IndexMap(rank {self._native_comm.rank}: {self.owned} owned of {self.global_size} cells, {self.ghosts} ghosts)"


class RaggedMap(IndexMap):
    """The map of the entries of rows, numbered row after row: those of owned rows, then those of ghost rows. `IndexMap.ragged` makes it.

    Its arrays, of `zeros` or any other, hold the entries one row behind the other (CSR). They travel with arrays of the rows as groups of an
    exchange, in the same messages. Rows of other sizes are another map.

        nodes = cells.ragged([3, 0, 2])                      # of 3 owned cells
        numbers = nodes.zeros("int64")
        numbers[nodes.row(2)] = [7, 8]
        ph.Exchange([(cells, u), (nodes, numbers)])()
    """

    def __init__(self, rows: IndexMap, counts: "ArrayLike") -> None:
        of_owned = together(rows._native_comm, lambda: to_ids(counts, "counts"))
        self._adopt(rows, _core.IndexMap.ragged(rows._map, of_owned))
        every = np.concatenate([of_owned, np.zeros(rows.ghosts, np.int64)])
        rows.forward(every)
        self._rows, self._offsets = rows, np.concatenate([[0], np.cumsum(every)])

    @property
    def rows(self) -> IndexMap:
        """The map of the rows."""
        return self._rows

    @property
    def offsets(self) -> np.ndarray:
        """Where each row's entries begin, owned rows then ghosts, and where the last one's end: int64, one more than rows."""
        return self._offsets

    @property
    def counts(self) -> np.ndarray:
        """Entries of each row, owned rows then ghosts, int64."""
        return np.diff(self._offsets)

    def row(self, row: int) -> slice:
        """Where the entries of a row are in arrays of this map. IndexError for a row that does not exist."""
        if not 0 <= row < self._rows.size:
            raise IndexError(f"row {row} does not exist: this rank has {self._rows.owned} owned rows and {self._rows.ghosts} ghosts")
        return slice(int(self._offsets[row]), int(self._offsets[row + 1]))


def _extents(shape: "Sequence[int] | None", components_axis: int | None) -> tuple[list[int], int]:
    """The fastest first, and in front of which of them components stand."""
    extents = [integer(extent, "shape", 64) for extent in shape or ()]
    axes = max(len(extents), 1)
    before = axes if components_axis is None else integer(components_axis, "components_axis", 32)
    if not 0 <= before <= axes:
        raise ValueError(f"components_axis is {before} and cells have {axes} axes: pass 0 to {axes}")
    return extents[::-1], axes - before


def _domain(owned: "int | ArrayLike", ghosts: "ArrayLike", comm: "Intracomm | None") -> IndexedDomain:
    """Blocks or ids; every rank must have said the same."""
    comm, native = resolve(comm)
    by_count = np.ndim(owned) == 0
    if 0 < total(native, by_count)[0] < native.size:
        raise ValueError("some ranks give the number of their cells and others their global ids: give the same on every rank")
    if not by_count:
        return IndexedDomain.with_owned_ids(owned, ghosts, comm, self_ghosts=True)
    count = together(native, lambda: integer(owned, "owned", 64))
    return IndexedDomain(count, ghosts, comm, self_ghosts=True)


def localize(
    connectivity: "ArrayLike",
    nodes: "ArrayLike | IndexedDomain | None" = None,
    comm: "Intracomm | None" = None,
) -> tuple[IndexMap, np.ndarray]:
    """The nodes of this rank's cells as a map, and the cells' nodes by their local numbers. Collective.

    Args:
        connectivity: global ids of the nodes of this rank's cells, any shape, such as (cells, 4). −1 is none, as in a table of cells of different
            sizes, and stays −1.
        nodes: global ids of the nodes that this rank owns, or a domain that tells who owns them, whose ghosts stay. None: a node belongs to the lowest
            rank that has it in a cell.
        comm: an mpi4py communicator; MPI.COMM_WORLD by default, or that of the domain.

    Returns the map, in which missing nodes are ghosts, in ascending order of id behind the others, and an array of int32 in the shape of
    `connectivity`. Time and memory grow with a rank's own cells. Raises ValueError or TypeError on every rank for a node that nobody owns.

        nodes, cells = ph.localize(cell_nodes, owned_nodes)
        x = nodes.zeros()
        nodes.forward(x)                # x[cells] has the values of each cell's nodes
    """
    if nodes is None or isinstance(nodes, IndexedDomain):
        owners = nodes
    else:
        owners = IndexedDomain.with_owned_ids(nodes, (), comm)
    made = IndexedDomain.__new__(IndexedDomain)
    made._comm, made._native_comm = resolve(comm) if owners is None else (owners._comm, owners._native_comm)
    flat = together(made._native_comm, lambda: to_ids(np.ravel(connectivity), "connectivity"))
    if owners is None:
        made._native, local = _core.localize_alone(made._native_comm, flat)
    else:
        made._native, local = _core.localize(owners._native, flat)
    return IndexMap(made), local.reshape(np.shape(connectivity))

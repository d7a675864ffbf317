"""Index maps: owned cells and ghosts, also from the node ids of cells, and exchanges of arrays passed at each call."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..base.arguments import integer
from ..base.together import resolve, together, total
from ..domain.arrays import Place
from ..domain.indexed import IndexedDomain, to_ids, to_numbers
from .pattern import Pattern
from .reduction import Reduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


class IndexMap(IndexedDomain):
    """An indexed domain with its pattern, and exchanges of any arrays of its cells.

    Local numbering: owned cells, then ghosts. Ghosts may repeat and may be cells of this rank itself. `pull` and `push` construct a map
    collectively. A map has all methods of an `IndexedDomain` (`global_of`, `local_of`, `owners_of`, `ghost_ids`, …).

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
        """Construct a map from each reader's ghosts: global ids in the given order, duplicates allowed. Collective.

        `owned` is this rank's number of cells, if ranks own contiguous blocks in rank order, or the global ids of its cells. Raises ValueError or
        TypeError on every rank for a ghost that does not exist, or a cell with two owners.
        """
        return cls(_domain(owned, ghosts, comm))

    @classmethod
    def push(
        cls, owned: "int | ArrayLike", rows: "ArrayLike", ranks: "ArrayLike", comm: "Intracomm | None" = None
    ) -> "IndexMap":
        """Construct a map from the owners' lists: owned cell `rows[i]` (a local number) becomes a ghost on `ranks[i]`. Collective.

        A cell may go to several ranks. Ghosts are in ascending order of the sending rank, then in its order; `ghost_ids` identifies them. `owned` as
        for `pull`. Raises ValueError or TypeError on every rank for cells or ranks that do not exist.
        """
        owners = _domain(owned, (), comm)
        which, where = together(owners._native_comm, lambda: (to_numbers(rows, "rows"), to_numbers(ranks, "ranks")))
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
        """Construct a map, with places, from lists of shared points, for codes without global ids. Collective.

        `lists[k]` has the local numbers of the points that this rank and `ranks[k]` share, in the same order on both ranks. A point may be in several
        lists; its lowest rank owns it. With `received`, `lists[k]` has cells to send instead, and `received[k]` the cells to receive from `ranks[k]`.
        `shape` and `components_axis` as for `placed`.

            nodes = ph.IndexMap.from_neighbor_lists([left, right], [[0, 1], [8, 9]])
            nodes.sum_shared(force)

        Raises ValueError or TypeError on every rank for lists of two ranks that differ in length (naming the ranks), for a point twice in a list, or
        for two points of a rank that the lists identify with each other.
        """
        comm, native = resolve(comm)

        def listed(given: "Sequence[ArrayLike]", name: str) -> list[tuple[int, np.ndarray]]:
            neighbors = to_numbers(ranks, "ranks")
            if len(given) != len(neighbors):
                raise ValueError(f"{name} has {len(given)} lists for {len(neighbors)} ranks: pass one for each")
            return [(int(rank), to_numbers(cells, f"a list of {name}")) for rank, cells in zip(neighbors, given)]

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
        """The same map for other array layouts: owned cell `i` is cell `places[i]` of an array, ghost `i` cell `ghost_places[i]`. Collective.

        Places count through the cell axes, of extents `shape`, in C order, or along one axis. Arrays may have any strides, and component axes after
        the cell axes or before cell axis `components_axis`, up to 5 axes in all. Such a map has `forward`, `reverse` and sums of shared points.
        Exchanges work in place, sums through buffers of the map; the first call for a dtype and number of components optimizes for its layout.

            cells = cells.placed(numbers, ghost_numbers, shape=(blocks, ny, nx), components_axis=1)
            cells.forward(ice, temperature)     # (blocks, ny, nx) and (blocks, levels, ny, nx)

        Raises ValueError or TypeError on every rank unless each cell has one place of its own, inside the shape.
        """
        arguments = together(
            self._native_comm,
            lambda: (to_numbers(places, "places"), to_numbers(ghost_places, "ghost_places"), *_extents(shape, components_axis)),
        )
        made = IndexMap.__new__(IndexMap)
        made._adopt(self, self._map.placed(*arguments))
        return made

    def only(self, mask: Any) -> "IndexMap":
        """The map of the ghosts that `mask` selects: `forward` and `reverse` skip the others and send only the selected. Collective.

        `mask` is an array of this map's cells, as for `forward`, with one bool or integer per cell: not 0 selects a ghost. Values of owned cells have
        no effect; a rank may select no ghost. Messages use MPI. A subset has no sums of shared points.

            icy = cells.only(ice > 0)
            icy.forward(u, v)
            icy.update(ice > 0)         # in the next step

        Raises ValueError or TypeError on every rank for a mask that does not fit.
        """
        made = IndexMap.__new__(IndexMap)
        made._adopt(self, self._map.only((_writable(mask),)))
        made._is_subset = True
        return made

    def update(self, mask: Any) -> None:
        """Select other ghosts in a subset made by `only`. Collective: one short message to each neighbor.

        Raises ValueError or TypeError on every rank for a mask that does not fit, for a map that is not a subset, or during an exchange; the old
        mask stays.
        """
        self._map.update((_writable(mask),))

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Places of the owned cells and of the ghosts in arrays, int32, copies; None for arrays of owned cells, then ghosts."""
        return self._map.places()

    def ragged(self, counts: "ArrayLike") -> "RaggedMap":
        """The map of the entries of rows of any length: `counts[i]` for owned row `i` of this map. Collective.

        Raises ValueError or TypeError on every rank unless there is one count, 0 or more, for each owned row.
        """
        return RaggedMap(self, counts)

    def prepare(self, *arrays: Any) -> None:
        """Do the set-up of the first `forward` or `reverse` of such arrays; no effect afterwards. Collective."""
        self._map.prepare(arrays)

    def prepare_shared(self, *arrays: Any) -> None:
        """Like `prepare`, for sums and reductions of shared points."""
        self._map.prepare_shared(arrays)

    def forward(self, *arrays: Any) -> None:
        """Send owners' values to the ghosts, all arrays in one message per neighbor; arrays may differ between calls, and in dtype.

        An array has owned cells, then ghosts along its first axis, and components last; or is a pair (owned, ghosts). Components of a cell are
        contiguous. The first call for a list of dtypes and components is collective; later ones wait only for neighbors. Exchanges are direct for
        arrays of `zeros`, and in place for others with contiguous cells.

        Raises ValueError or TypeError for arrays that do not fit or share memory, on the rank that passes them; the first call needs arrays that fit
        on every rank.
        """
        self._map.forward(arrays)

    def reverse(self, reduction: str | Reduction, *arrays: Any) -> None:
        """Reduce ghosts into owners: sum (the adjoint of `forward`), prod, min, max, replace, bit_and, bit_or, or a Reduction.

        The order is fixed: floating-point sums are bitwise reproducible. Arrays as for `forward`. Ghosts keep their values. TypeError if the
        reduction does not apply to the dtype.
        """
        self._map.reverse(arrays, reduction)

    def begin_forward(self, *arrays: Any) -> "_core.Step":
        """Start `forward`. Owned values may change; the end of the step writes the ghosts."""
        return self._map.begin_forward(arrays)

    def begin_reverse(self, reduction: str | Reduction, *arrays: Any) -> "_core.Step":
        """Start `reverse`. Ghosts may change; the end of the step writes owned values."""
        return self._map.begin_reverse(arrays, reduction)

    def sum_shared(self, *arrays: Any) -> None:
        """Sum each point over all ranks that hold it, as owner or ghost; each gets the sum.

        One round of messages, where `reverse` and `forward` take two; all arrays in one message per holder. Values add up in ascending order of rank:
        all holders get the same bits, in every run. Arrays as for `forward`. The first call finds the holders and is collective; ValueError on every
        rank if one holds a point twice.

            nodes.sum_shared(force, mass)
        """
        self.reduce_shared("sum", *arrays)

    def reduce_shared(self, reduction: str | Reduction, *arrays: Any) -> None:
        """Like `sum_shared`, with another reduction; "replace" takes the value of the highest rank that holds a point."""
        self._map.reduce_shared(arrays, reduction)

    def begin_reduce_shared(self, reduction: str | Reduction, *arrays: Any) -> "_core.Step":
        """Start `reduce_shared`. Until the step ends, the program must not write shared points.

            with nodes.begin_reduce_shared("sum", force):
                update_elsewhere()
        """
        return self._map.begin_reduce_shared(arrays, reduction)

    def explain_shared(self, *arrays: Any) -> str:
        """Points, holders and messages of sums of such arrays, and the cost of reverse and forward instead. After the first call."""
        return self._map.explain_shared(arrays)

    def _place(self) -> Place:
        if self.places is not None:
            raise ValueError("the map has places, and this call needs arrays of owned cells, then ghosts: use the original map")
        return super()._place()

    @property
    def pattern(self) -> Pattern:
        """The pattern of the map."""
        return Pattern(self._map.pattern)

    @property
    def owned_ids(self) -> np.ndarray:
        """Global id of each owned cell, int64; a copy."""
        return self.global_of(np.arange(self.owned))

    def __repr__(self) -> str:
        return f"IndexMap(rank {self._native_comm.rank}: {self.owned} owned of {self.global_size} cells, {self.ghosts} ghosts)"


class RaggedMap(IndexMap):
    """The map of the entries of rows, row after row: owned rows, then ghost rows. `IndexMap.ragged` constructs it.

    Its arrays hold the entries row by row (CSR). In groups of an exchange they travel with arrays of the rows, in the same messages. Rows of
    other lengths need another map.

        nodes = cells.ragged([3, 0, 2])                      # of 3 owned cells
        numbers = nodes.zeros("int64")
        numbers[nodes.row(2)] = [7, 8]
        ph.Exchange([(cells, u), (nodes, numbers)])()
    """

    def __init__(self, rows: IndexMap, counts: "ArrayLike") -> None:
        every = together(rows._native_comm, lambda: np.append(to_ids(counts, "counts"), np.zeros(rows.ghosts, np.int64)))
        self._adopt(rows, _core.IndexMap.ragged(rows._map, every[: every.size - rows.ghosts]))
        rows.forward(every)
        self._rows, self._offsets = rows, np.concatenate([[0], np.cumsum(every)])

    @property
    def rows(self) -> IndexMap:
        """The map of the rows."""
        return self._rows

    @property
    def offsets(self) -> np.ndarray:
        """First entry of each row, owned rows then ghosts, and the end of the last: int64, number of rows + 1."""
        return self._offsets

    @property
    def counts(self) -> np.ndarray:
        """Entries of each row, owned rows then ghosts, int64."""
        return np.diff(self._offsets)

    def row(self, row: int) -> slice:
        """Slice of a row's entries in arrays of this map. IndexError for a row that does not exist."""
        if not 0 <= row < self._rows.size:
            raise IndexError(f"row {row} does not exist: this rank has {self._rows.owned} owned rows and {self._rows.ghosts} ghosts")
        return slice(int(self._offsets[row]), int(self._offsets[row + 1]))


def _writable(mask: Any) -> Any:
    """The mask, or a copy of what is read-only, as the library takes only arrays that can be written."""
    if isinstance(mask, (tuple, list)):
        return tuple(map(_writable, mask))
    return mask.copy() if isinstance(mask, np.ndarray) and not mask.flags.writeable else mask


def _extents(shape: "Sequence[int] | None", components_axis: int | None) -> tuple[list[int], int]:
    """Extents, fastest axis first, and the axis after the components."""
    extents = [integer(extent, "shape", 64) for extent in shape or ()]
    axes = max(len(extents), 1)
    before = axes if components_axis is None else integer(components_axis, "components_axis", 32)
    if not 0 <= before <= axes:
        raise ValueError(f"components_axis is {before} and cells have {axes} axes: pass 0 to {axes}")
    return extents[::-1], axes - before


def _domain(owned: "int | ArrayLike", ghosts: "ArrayLike", comm: "Intracomm | None") -> IndexedDomain:
    """Domain of blocks or ids, alike on all ranks."""
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
    """The map of the nodes of this rank's cells, and the connectivity in local numbers. Collective.

    Args:
        connectivity: global ids of the nodes of this rank's cells, any shape, such as (cells, 4). −1 marks no node, as in a table of cells of
            different sizes, and stays −1.
        nodes: global ids of the nodes that this rank owns, or a domain that defines ownership, whose ghosts are kept. None: the lowest rank with
            a node in a cell owns it.
        comm: an mpi4py communicator; by default the domain's, or MPI.COMM_WORLD.

    Returns the map, with missing nodes as additional ghosts in ascending order of id, and an int32 array in the shape of `connectivity`. Time and
    memory are linear in a rank's own cells. Raises ValueError or TypeError on every rank for a node without owner.

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
    if owners is not None:
        owners._require_whole()
    made._native, local = _core.localize(made._native_comm if owners is None else owners._native, flat)
    return IndexMap(made), local.reshape(np.shape(connectivity))

"""
Parhelion's C++ objects, built against one MPI. Use the package parhelion instead.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


class ErrorKind(enum.IntEnum):
    """What kind of mistake an error reports."""

    VALUE = 1

    TYPE = 2

    COMMUNICATION = 3

    TIMEOUT = 4

    LOST_PEER = 5

    SYSTEM = 6

class Communicator:
    """The library's own duplicate of a communicator."""

    def __init__(self, fortran_handle: int) -> None:
        """
        Collective the first time for a communicator (it duplicates), local afterwards.
        """

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def agree(self, complaint: str, kind: ErrorKind, call: str, timeout_s: float) -> None:
        """
        Collective. Raises the complaint of the lowest rank that has one, on every rank.

        `call`: what the ranks do, equal on all; `timeout_s`: 0 for as PARHELION_TIMEOUT says.
        """

    def largest(self, values: Sequence[int], call: str) -> list[int]:
        """
        Collective, one reduction. Of each value the largest that a rank has; all pass as many.
        """

    def total(self, values: Sequence[int], call: str) -> list[int]:
        """Collective. The sum of each value over all ranks; all pass as many."""

    def total_before(self, values: Sequence[int], call: str) -> list[int]:
        """
        Collective. The sum of each value over the ranks before this one; all pass as many.
        """

    def of_all(self, values: Sequence[int], call: str) -> list[int]:
        """
        Collective. The values of all ranks, rank after rank; all pass as many.
        """

    def require_equal(self, what: str, name: str, value: int, remedy: str, call: str, timeout_s: float) -> None:
        """
        Collective. Raises ValueError on every rank, with a rank that differs, unless all have the same value.
        """

def allocate_node_shared(bytes: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]:
    """
    Zeroed bytes in memory that the ranks of this node can map, aligned to 64. Local.
    """

def is_node_shared(address: int) -> bool:
    """Whether allocate_node_shared gave the memory at this address. Local."""

def transports() -> list[tuple[str, str, str, str]]: ...

class Neighbors(enum.Enum):
    full = 0

    faces = 1

class RankFill(enum.Enum):
    last = 0

    first = 1

    communicator = 2

class Algorithm(enum.Enum):
    standard = 0

    staged = 1

class CartesianDomain:
    def __init__(self, comm: Communicator, extents: Sequence[int], lower: Sequence[int], upper: Sequence[int], periodic: Sequence[bool], process_grid: Sequence[int], splits: Sequence[Sequence[int]], blocks_per_rank: Sequence[int], neighbors: Neighbors, algorithm: Algorithm, fill: RankFill, ranks: Sequence[int], owns_ends: bool) -> None: ...

    def staggered(self, stagger: Sequence[int]) -> CartesianDomain: ...

    @property
    def periodic(self) -> tuple[bool, ...]: ...

    @property
    def lowest(self) -> list[tuple[bool, ...]]:
        """
        Per block of this rank, where it lies at the lower end of a dimension that is not periodic.
        """

    @property
    def process_grid(self) -> list[int]: ...

    @property
    def starts(self) -> list[list[int]]:
        """Per dimension, the first cell of each block and the extent."""

    @property
    def blocks(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Per block of this rank, the first and the past-the-end cell."""

    @property
    def held(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """
        Per block of this rank, the first and the past-the-end cell or point of an array without its halo.
        """

    def coordinates_of(self, rank: int) -> list[int]: ...

def choose_process_grid(ranks: int, extents: Sequence[int], lower: Sequence[int], upper: Sequence[int]) -> list[int]: ...

class IndexedDomain:
    @staticmethod
    def from_block(comm: Communicator, owned: int, ghosts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], self_ghosts: bool) -> IndexedDomain: ...

    @staticmethod
    def from_owned_ids(comm: Communicator, owned_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ghosts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], self_ghosts: bool) -> IndexedDomain: ...

    @property
    def owned(self) -> int: ...

    @property
    def ghosts(self) -> int: ...

    @property
    def global_size(self) -> int: ...

    @property
    def first(self) -> int: ...

    def ghost_ids(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    def ghost_owners(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    def global_of(self, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    def local_of(self, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    def owners_of(self, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

def localize(nodes: IndexedDomain, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[IndexedDomain, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

def localize_alone(comm: Communicator, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[IndexedDomain, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

def read_partition(folder: str, comm: Communicator) -> tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

def read_partition_keys(path: str, comm: Communicator) -> tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

class Pattern:
    @property
    def communicator(self) -> Communicator: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def owned(self) -> int: ...

    @property
    def ghosts(self) -> int: ...

    @property
    def halo(self) -> tuple[tuple[int, int], ...]: ...

    @property
    def depth(self) -> tuple[tuple[int, int], ...]: ...

    @property
    def stagger(self) -> tuple[int, ...]: ...

    @property
    def owns_ends(self) -> bool: ...

    @property
    def blocks(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]: ...

    def stages(self) -> list[list[tuple[int, Any, Any]]]: ...

    def describe(self) -> str: ...

    def neighbor_ranks(self) -> list[int]: ...

    def cells_sent(self) -> int: ...

    def check_local(self) -> None: ...

    def verify(self) -> None: ...

@overload
def build_pattern(domain: CartesianDomain) -> Pattern: ...

@overload
def build_pattern(domain: IndexedDomain) -> Pattern: ...

elements: tuple = ...

class Field:
    """Where the values of one field lie. Keeps nothing alive."""

    def __init__(self, element: str, components: int, indexed: bool) -> None: ...

    def set_layers(self, lower: Sequence[int], upper: Sequence[int], array_lower: Sequence[int], array_upper: Sequence[int], stagger: Sequence[int], owns_ends: bool) -> None: ...

    def add_block(self, first: int, strides: Sequence[int], component_stride: int) -> None: ...

    def __str__(self) -> str: ...

class ExchangeOptions:
    def __init__(self) -> None: ...

    @property
    def transport(self) -> str: ...

    @transport.setter
    def transport(self, arg: str, /) -> None: ...

    @property
    def timeout_s(self) -> float: ...

    @timeout_s.setter
    def timeout_s(self, arg: float, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def progress_thread(self) -> bool: ...

    @progress_thread.setter
    def progress_thread(self, arg: bool, /) -> None: ...

    @property
    def overlap(self) -> bool: ...

    @overlap.setter
    def overlap(self, arg: bool, /) -> None: ...

    @property
    def at_once(self) -> bool: ...

    @at_once.setter
    def at_once(self, arg: bool, /) -> None: ...

    @property
    def work_s(self) -> float: ...

    @work_s.setter
    def work_s(self, arg: float, /) -> None: ...

    @property
    def combine_in_end(self) -> bool: ...

    @combine_in_end.setter
    def combine_in_end(self, arg: bool, /) -> None: ...

    @property
    def check(self) -> bool: ...

    @check.setter
    def check(self, arg: bool, /) -> None: ...

class Reduction:
    def __init__(self, element: str, combine: object) -> None: ...

class Step:
    """An exchange under way, from `begin` to `end`."""

    def end(self) -> None:
        """
        Waits for the neighbors; afterwards the ghosts are filled. Once per step.
        """

    def test(self) -> bool:
        """
        Gets the exchange on, without waiting, and tells whether `end` will return, or raise, at once.

        To be called between pieces of work; `end` has to be called all the same. True for a step that has ended.
        """

    @property
    def ended(self) -> bool:
        """Whether the exchange has ended, here or by `Exchange.end`."""

    def __enter__(self) -> Step: ...

    def __exit__(self, *exception: object) -> None: ...

class Exchange:
    @overload
    def __init__(self, groups: Sequence[tuple[Pattern | CartesianDomain, Sequence[Field]]], options: ExchangeOptions, arrays: object, call_arrays: list, as_array: object) -> None: ...

    @overload
    def __init__(self, whole: Exchange, fields: Sequence[int], lower: Sequence[int], upper: Sequence[int], arrays: object, call_arrays: list, as_array: object) -> None: ...

    def end(self) -> None:
        """Ends what `begin` or `begin_reverse` started; waits for the neighbors."""

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""

    def prepare(self) -> None:
        """
        Collective: what the first use of a subset would do, which makes its transports. Nothing where that is done.
        """

    def __call__(self, *arrays: object) -> None:
        """
        Fills every ghost with its owner's value: begin and end.

        `arrays`: others of the same shapes, strides and dtypes as those that it was made with, one for each, in that order,
        group after group: temporaries, swapped time levels, reallocated memory. Each rank names its own; nothing is sent for
        it. Without any, those that it was made with. ValueError or TypeError, of this rank alone, for arrays of another layout;
        then nothing has begun.
        """

    def begin(self, *arrays: object) -> Step:
        """
        Starts filling the ghosts, of `arrays` as in a call, and returns while messages travel.

        Until the step ends, owned cells must not be written and ghosts not touched.

            with exchange.begin():
                update_interior(u)
        """

    def retune(self, *arrays: object) -> None:
        """
        Has `auto` choose the transport anew, for cores that have moved, or other work on the machine. Collective.

        `arrays` as in a call; their ghosts keep their values. Takes as long as construction. Subsets follow: their next use
        is collective. A transport that was asked for by name stays. ValueError while it, or a subset, is under way, and for
        a subset.
        """

    def _stale(self, *arrays: object) -> tuple[list[int], list[tuple[int, int, list[int], int, str, str, str]]]: ...

    def check(self, *arrays: object) -> None:
        """
        Raises ValueError on every rank, with the first ghost of the lowest rank that has one which does not hold its owner's
        value, unless there is none. Collective; `arrays` as in a call, which it only reads. See `stale`.
        """

    def reverse(self, reduction: str | Reduction = 'sum', *arrays: object) -> None:
        """
        Combines every ghost's value into its owner's: sum, prod, min, max, replace, bit_and, bit_or, or a Reduction.

        The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values, except with the
        staged algorithm. TypeError where the elements cannot be combined so.

            exchange.reverse("sum", force)        # arrays behind the reduction, as in a call
        """

    def begin_reverse(self, reduction: str | Reduction = 'sum', *arrays: object) -> Step:
        """
        Starts `reverse`. Until the step ends, owned cells that others hold as ghosts must not be touched and ghosts
        not be written.
        """

    @property
    def kept_alive(self, /) -> Any:
        """What it keeps alive: the arrays as passed, and NumPy's views of them."""

    @property
    def transport(self) -> str:
        """Name of what moves the data, such as 'mpi' or 'shared+mpi'."""

    def explain(self) -> str:
        """What was chosen for which neighbor and why, in a few lines."""

    def bytes_sent(self, direction: str = 'forward') -> int:
        """Bytes that this rank sends to other ranks in one exchange. Local."""

    def messages_sent(self, direction: str = 'forward') -> int:
        """Messages that this rank sends to other ranks in one exchange. Local."""

class AnyIndexMap:
    pass

class IndexMap(AnyIndexMap):
    def __init__(self, domain: IndexedDomain) -> None: ...

    @staticmethod
    def push(owners: IndexedDomain, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> IndexMap: ...

    def forward(self, arrays: tuple, as_array: object) -> None: ...

    def reverse(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> None: ...

    def reduce_shared(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> None: ...

    def begin_reduce_shared(self, reduction: str | Reduction, arrays: tuple, as_array: object) -> Step: ...

    def explain_shared(self, arrays: tuple, as_array: object) -> str: ...

    @property
    def domain(self) -> IndexedDomain: ...

    @property
    def pattern(self) -> Pattern: ...

class PointSums:
    def __init__(self, domain: CartesianDomain, fields: Sequence[Field], arrays: object, options: ExchangeOptions) -> None: ...

    def end(self) -> None:
        """Ends what `begin` or `begin_reverse` started; waits for the neighbors."""

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""

    def _reduce_fields(self, reduction: str | Reduction, fields: Sequence[Field], arrays: object) -> None: ...

    def _begin_fields(self, reduction: str | Reduction, fields: Sequence[Field], arrays: object) -> Step: ...

    def explain(self) -> str:
        """How many points are shared, and what moves them."""

class Redistribution:
    @overload
    def __init__(self, source: CartesianDomain, target: CartesianDomain, options: ExchangeOptions) -> None: ...

    @overload
    def __init__(self, source: IndexedDomain, target: IndexedDomain, options: ExchangeOptions) -> None: ...

    def forward(self, pairs: Sequence[tuple[Field, Field]], arrays: object) -> None: ...

    def back(self, pairs: Sequence[tuple[Field, Field]], arrays: object) -> None: ...

    def explain(self) -> str: ...

class RowLayout:
    def __init__(self, kind: str, element: str, components: int, width: int, alignment: int) -> None: ...

    def check(self) -> None: ...

    @property
    def stride(self) -> int: ...

class GhostRows:
    """Rows of owned cells, then ghosts, as bytes."""

    def __init__(self, map: AnyIndexMap, layout: RowLayout) -> None: ...

    @staticmethod
    def over(map: AnyIndexMap, layout: RowLayout, owned: int, owned_stride: int, ghosts: int, ghost_stride: int) -> GhostRows: ...

    @staticmethod
    def ragged(map: AnyIndexMap, layout: RowLayout, sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], entries: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> GhostRows: ...

    def memory(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]: ...

    def sizes_memory(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]: ...

    def sizes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    def starts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

    def row_size(self, row: int) -> int: ...

    def row_start(self, row: int) -> int: ...

    def edit(self) -> None: ...

    def set_row(self, row: int, entries: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_all(self, sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], entries: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def edited_row(self, row: int) -> bytes: ...

    def compress(self) -> None: ...

    def rebind(self, owned: int, owned_stride: int, ghosts: int, ghost_stride: int) -> None: ...

    @property
    def editing(self) -> bool: ...

    @property
    def generation(self) -> int: ...

class GhostExchange:
    def __init__(self, rows: Sequence[GhostRows], options: ExchangeOptions, arrays: object) -> None: ...

    def end(self) -> None:
        """Ends what `begin` or `begin_reverse` started; waits for the neighbors."""

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""

    def __call__(self) -> None:
        """Fills every ghost row with its owner's: begin and end."""

    def begin(self) -> Step:
        """
        Starts filling the ghosts and returns while messages travel.

        Until the step ends, owned rows must not be written and ghosts not touched.

            with exchange.begin():
                update_interior(u)
        """

    def reverse(self, reduction: str | Reduction = 'sum') -> None:
        """
        Combines every ghost row into its owner's: sum, prod, min, max, replace, bit_and, bit_or or a Reduction of the rows' elements.

        The order is fixed, so that floating-point sums repeat bit for bit. Ghosts keep their values. Padded rows are
        combined in all their room; their sizes stay, and their first reverse exchange is collective. TypeError where the
        elements cannot be combined so.
        """

    def begin_reverse(self, reduction: str | Reduction = 'sum') -> Step:
        """
        Starts `reverse`. Until the step ends, owned rows that others hold as ghosts must not be touched and ghosts
        not be written.
        """

    def refresh(self) -> None:
        """
        Fetches the sizes of ragged ghost rows anew, and takes the arrays' memory as it is now. Collective.

        ValueError on every rank while an array is being edited, or when rows must move of which views exist.
        """

    def run_many(self, times: int) -> None:
        """
        So many exchanges without Python in between: what it saves is what Python costs.
        """

    def _on_arrival(self, arrive: object, depart: object | None) -> None: ...

    @property
    def stale(self) -> bool:
        """
        Whether an array has moved or changed its row sizes since the last `refresh`.
        """

    @property
    def kept_alive(self, /) -> Any:
        """What it keeps alive: the arrays as passed, and NumPy's views of them."""

    @property
    def transport(self) -> str:
        """Name of what moves the data, such as 'mpi' or 'shared+mpi'."""

    def explain(self) -> str:
        """What was chosen for which neighbor and why, in a few lines."""

    def bytes_sent(self, direction: str = 'forward') -> int:
        """Bytes that this rank sends to other ranks in one exchange. Local."""

    def messages_sent(self, direction: str = 'forward') -> int:
        """Messages that this rank sends to other ranks in one exchange. Local."""

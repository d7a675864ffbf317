"""Rows of cells with ghosts: blocks on a periodic process grid, the rows that each rank wants of the others, the check that they are right, and the
variants: the library's arrays, mpi4py by hand, the published way among it, and copies alone as a floor."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import parhelion as ph
from mpi4py import MPI

from . import GHOSTS as ROLES
from .protocol import Variant

__all__ = ["ROLES", "VARIANTS", "Case"]

FACES, ALL_FROM_ONE = "faces", "all-from-one"


@dataclass(frozen=True)
class Case:
    """One case as the job tells it, seen from one rank. Rows are numbered block after block, in C order within a block."""

    comm: MPI.Intracomm
    grid: tuple[int, ...]
    extent: int
    vdim: int
    element: str
    pattern: str

    @classmethod
    def read(cls, job: dict[str, Any], comm: MPI.Intracomm) -> "Case":
        grid = tuple(int(side) for side in job["grid"])
        if int(np.prod(grid)) != comm.size:
            raise ValueError(f"the process grid {'x'.join(map(str, grid))} makes {np.prod(grid)} ranks and {comm.size} run: make them agree")
        if job["pattern"] not in (FACES, ALL_FROM_ONE):
            raise ValueError(f"unknown pattern {job['pattern']!r}: use {FACES} or {ALL_FROM_ONE}")
        return cls(comm, grid, int(job["extent"]), int(job["vdim"]), str(job["element"]), job["pattern"])

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.element)

    @property
    def rows(self) -> int:
        return self.extent**3

    @property
    def row_bytes(self) -> int:
        return self.vdim * self.dtype.itemsize

    @cached_property
    def claimed(self) -> np.ndarray:
        """Global ids of the rows beyond the six faces, face after face, repeated where the periodic grid is small."""
        return np.concatenate([self._face(axis, side) for axis in range(3) for side in (-1, 1)])

    @cached_property
    def unique(self) -> np.ndarray:
        return np.unique(self.claimed)

    @cached_property
    def wanted(self) -> np.ndarray:
        """The rows that really move: each once, and only those of other ranks; ascending, hence owner after owner."""
        return self.unique[self.unique // self.rows != self.comm.rank]

    @cached_property
    def map(self) -> "ph.IndexMap":
        """Collective the first time."""
        return ph.IndexMap.pull(self.rows, self.wanted, self.comm)

    @cached_property
    def sent(self) -> list[tuple[int, np.ndarray]]:
        """Own rows that each other rank wants, in the order in which it wants them. Collective the first time."""
        owners = self.wanted // self.rows
        asked = self.comm.alltoall([self.wanted[owners == rank] - rank * self.rows for rank in range(self.comm.size)])
        return [(rank, rows) for rank, rows in enumerate(asked) if len(rows)]

    @property
    def sent_bytes(self) -> int:
        return sum(len(rows) for _, rows in self.sent) * self.row_bytes

    @cached_property
    def received(self) -> list[tuple[int, int, int]]:
        """(owner, first row, rows): where the rows of each owner lie behind the own ones."""
        owners, starts = np.unique(self.wanted // self.rows, return_index=True)
        ends = np.append(starts[1:], len(self.wanted)).tolist() if len(starts) else []
        return [(int(rank), self.rows + int(a), b - int(a)) for rank, a, b in zip(owners, starts, ends, strict=True)]

    def params(self) -> dict[str, Any]:
        """Parameters of the case, and how many rows the rank with the most of them claims and moves. Collective."""
        counts = np.array([len(self.claimed), len(self.unique), len(self.wanted)])
        most = np.empty_like(counts)
        self.comm.Allreduce(counts, most, MPI.MAX)
        total = int(self.comm.allreduce(len(self.wanted)))
        return {
            "ranks": self.comm.size, "grid": list(self.grid), "extent": self.extent, "vdim": self.vdim, "element": self.element,
            "pattern": self.pattern, "rows_claimed": int(most[0]), "rows_unique": int(most[1]), "rows_moved": int(most[2]),
            "rows_moved_total": total,
        }

    def _face(self, axis: int, side: int) -> np.ndarray:
        """Rows of the neighbor's block that touch this block's face. All from one: of rank 0's, whoever asks."""
        place = list(np.unravel_index(self.comm.rank, self.grid))
        place[axis] = (place[axis] + side) % self.grid[axis]
        owner = 0 if self.pattern == ALL_FROM_ONE else int(np.ravel_multi_index(place, self.grid))
        numbers = np.arange(self.rows).reshape((self.extent,) * 3)
        layer = 0 if side > 0 else self.extent - 1
        return owner * self.rows + np.take(numbers, layer, axis).ravel()


class Rows:
    """Owned rows, then ghosts, in `array` of shape (rows, vdim). Every value tells its row, its component and the round."""

    def __init__(self, case: Case, array: np.ndarray, ghosts: np.ndarray | None = None) -> None:
        self.case, self.array = case, array
        first = case.comm.rank * case.rows
        self.ids = np.concatenate([np.arange(first, first + case.rows), case.wanted if ghosts is None else ghosts])

    def refresh(self, turn: int) -> None:
        """This round's values into the owned rows, poison into the ghosts."""
        self.array[: self.case.rows] = self._expected(slice(0, self.case.rows), turn)
        self.array[self.case.rows :] = -1

    def count_wrong(self, turn: int) -> int:
        return int(np.count_nonzero(self.array != self._expected(slice(None), turn)))

    def _expected(self, part: slice, turn: int) -> np.ndarray:
        column = np.arange(self.case.vdim)
        return ((self.ids[part, None] * 131 + column * 7 + turn * 17) % 8191).astype(self.array.dtype)


def private_rows(case: Case) -> Rows:
    return Rows(case, np.zeros((case.rows + len(case.wanted), case.vdim), case.dtype))


class Exchange(Variant):
    """What the variants below share. `sent`: the rows of each message."""

    bytes = messages = 0
    sent: list[tuple[int, np.ndarray]] = []

    def traffic(self) -> dict[str, Any]:
        sent = [(rank, len(rows) * self.rows.case.row_bytes) for rank, rows in self.sent]
        return {"bytes": self.bytes, "messages": self.messages, "sent": sent}


class ByHand(Exchange):
    def __init__(self, case: Case) -> None:
        self.comm, self.rows, self.sent, self.received = case.comm, private_rows(case), case.sent, case.received
        self.array = self.rows.array
        self.bytes, self.messages = case.sent_bytes, len(case.sent)


class Hindexed(ByHand):
    """The published way: one hindexed datatype per neighbor and side, a block for each row, in persistent requests."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        sides: list[tuple[Any, int, np.ndarray]] = [(self.comm.Recv_init, rank, np.arange(first, first + count)) for rank, first, count in self.received]
        sides += [(self.comm.Send_init, rank, rows) for rank, rows in self.sent]
        self.requests = [self._request(start, rank, rows, case.row_bytes) for start, rank, rows in sides]

    def _request(self, init: Any, rank: int, rows: np.ndarray, row_bytes: int) -> MPI.Prequest:
        kind = MPI.BYTE.Create_hindexed([row_bytes] * len(rows), (rows * row_bytes).tolist()).Commit()
        request = init([self.array, 1, kind], rank)
        kind.Free()  # the request keeps its own reference
        return request

    def exchange(self) -> None:
        MPI.Prequest.Startall(self.requests)
        MPI.Request.Waitall(self.requests)


class Packed(ByHand):
    """In-place packing: rows into a buffer per neighbor, persistent requests, received straight among the ghosts."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.buffers = [np.empty((len(rows), case.vdim), case.dtype) for _, rows in self.sent]
        self.sends = [self.comm.Send_init([buffer, MPI.BYTE], rank) for buffer, (rank, _) in zip(self.buffers, self.sent)]
        self.receives = [self.comm.Recv_init([self.array[first : first + count], MPI.BYTE], rank)
                         for rank, first, count in self.received]

    def exchange(self) -> None:
        MPI.Prequest.Startall(self.receives)
        for buffer, (_, rows), send in zip(self.buffers, self.sent, self.sends):
            np.take(self.array, rows, axis=0, out=buffer, mode="clip")  # clip: the only mode without a buffer
            send.Start()
        MPI.Request.Waitall(self.receives + self.sends)


class Plain(ByHand):
    """What most write first: index, Isend, Irecv."""

    def exchange(self) -> None:
        array, comm = self.array, self.comm
        requests = [comm.Irecv(array[first : first + count], rank) for rank, first, count in self.received]
        packed = [array[rows] for _, rows in self.sent]
        requests += [comm.Isend(rows, rank) for rows, (rank, _) in zip(packed, self.sent)]
        MPI.Request.Waitall(requests)


class PlantedFault(Plain):
    """Right but for one value on the last rank: shows that the checks notice. It runs only by name."""

    def exchange(self) -> None:
        super().exchange()
        if self.comm.rank == self.comm.size - 1:
            self.array[-1, -1] += 1


class Own(Exchange):
    """`exchange()` from Python; with `native`, the same from C++, to see what Python costs."""

    def __init__(self, case: Case, transport: str, native: bool = False) -> None:
        rows = case.map.zeros(case.dtype, case.vdim)
        self.rows = Rows(case, rows)
        self.call = ph.Exchange(case.map, rows, transport=transport)
        self.native, self.sent = native, case.sent
        self.bytes, self.messages = self.call.bytes_sent(), self.call.messages_sent()

    def run(self, times: int) -> None:
        if self.native:
            self.call.run_many(times)
            return
        call = self.call
        for _ in range(times):
            call()

    def explain(self) -> str:
        return self.call.explain()


class InProcess(Exchange):
    """Compiled copies of as many own rows to own ghosts: no other rank, no other core, so that nothing may be faster."""

    def __init__(self, case: Case) -> None:
        rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in case.sent)])
        map = ph.IndexMap.pull(case.rows, rows, MPI.COMM_SELF)
        array = map.zeros(case.dtype, case.vdim)
        self.rows = Rows(case, array, case.comm.rank * case.rows + rows)
        self.call = ph.Exchange(map, array)
        self.bytes = case.sent_bytes

    def run(self, times: int) -> None:
        self.call.run_many(times)


VARIANTS: dict[str, Callable[[Case], Variant]] = {name: partial(Own, transport=name) for name in ("auto", "shared", "staged_shared", "mpi")} | {
    "auto_from_cpp": partial(Own, transport="auto", native=True),
    "published_hindexed": Hindexed,
    "packed_persistent": Packed,
    "mpi4py_isend": Plain,
    "planted_fault": PlantedFault,
    "floor_in_process": InProcess,
}

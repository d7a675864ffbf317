"""Row arrays with ghosts: blocks on a periodic process grid, verification, and variants: the library, mpi4py (also as published), plain
copies as a floor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import parhelion as ph
from mpi4py import MPI

from .programs import GHOSTS as ROLES, Variant

__all__ = ["ROLES", "VARIANTS", "Case"]

FACES, ALL_FROM_ONE = "faces", "all-from-one"


@dataclass(frozen=True)
class Case:
    """One case on this rank. Row ids are block-major, C order within a block."""

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
            raise ValueError(f"the process grid {'x'.join(map(str, grid))} needs {np.prod(grid)} ranks, but {comm.size} run: make them agree")
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
        """Global ids of the rows across the six faces, face by face; small periodic grids repeat ids."""
        return np.concatenate([self._face(axis, side) for axis in range(3) for side in (-1, 1)])

    @cached_property
    def unique(self) -> np.ndarray:
        return np.unique(self.claimed)

    @cached_property
    def wanted(self) -> np.ndarray:
        """Global ids of the ghosts: unique, owned by other ranks, ascending and so grouped by owner."""
        return self.unique[self.unique // self.rows != self.comm.rank]

    @cached_property
    def map(self) -> "ph.IndexMap":
        """Index map of the case. The first access is collective."""
        return ph.IndexMap.pull(self.rows, self.wanted, self.comm)

    @cached_property
    def sent(self) -> list[tuple[int, np.ndarray]]:
        """Per destination, the owned rows to send, in the receiver's order. The first access is collective."""
        owners = self.wanted // self.rows
        asked = self.comm.alltoall([self.wanted[owners == rank] - rank * self.rows for rank in range(self.comm.size)])
        return [(rank, rows) for rank, rows in enumerate(asked) if len(rows)]

    @property
    def sent_bytes(self) -> int:
        return sum(len(rows) for _, rows in self.sent) * self.row_bytes

    @cached_property
    def received(self) -> list[tuple[int, int, int]]:
        """(owner, first row, rows) of the ghosts behind the owned rows."""
        owners, starts = np.unique(self.wanted // self.rows, return_index=True)
        ends = np.append(starts[1:], len(self.wanted)).tolist() if len(starts) else []
        return [(int(rank), self.rows + int(a), b - int(a)) for rank, a, b in zip(owners, starts, ends, strict=True)]

    def params(self) -> dict[str, Any]:
        """Return the case's parameters, with the maximum numbers of claimed and moved rows over all ranks. Collective."""
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
        """Return the neighbor's rows that touch this face; with all-from-one, rank 0's rows."""
        place = list(np.unravel_index(self.comm.rank, self.grid))
        place[axis] = (place[axis] + side) % self.grid[axis]
        owner = 0 if self.pattern == ALL_FROM_ONE else int(np.ravel_multi_index(place, self.grid))
        numbers = np.arange(self.rows).reshape((self.extent,) * 3)
        layer = 0 if side > 0 else self.extent - 1
        return owner * self.rows + np.take(numbers, layer, axis).ravel()


class Rows:
    """Owned rows, then ghosts, in `array` of shape (rows, vdim); values encode row, component and round."""

    def __init__(self, case: Case, array: np.ndarray, ghosts: np.ndarray | None = None) -> None:
        self.case, self.array = case, array
        first = case.comm.rank * case.rows
        self.ids = np.concatenate([np.arange(first, first + case.rows), case.wanted if ghosts is None else ghosts])

    def refresh(self, turn: int) -> None:
        """Set the owned rows for this round and poison the ghosts."""
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
    """Common base of the variants. `sent`: (destination, rows) of each message."""

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
    """Published method: an hindexed datatype per neighbor and direction, one block per row, persistent requests."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        sides: list[tuple[Any, int, np.ndarray]] = [(self.comm.Recv_init, rank, np.arange(first, first + count)) for rank, first, count in self.received]
        sides += [(self.comm.Send_init, rank, rows) for rank, rows in self.sent]
        self.requests = [self._request(start, rank, rows, case.row_bytes) for start, rank, rows in sides]

    def _request(self, init: Any, rank: int, rows: np.ndarray, row_bytes: int) -> MPI.Prequest:
        kind = MPI.BYTE.Create_hindexed([row_bytes] * len(rows), (rows * row_bytes).tolist()).Commit()
        request = init([self.array, 1, kind], rank)
        kind.Free()  # the request keeps a reference
        return request

    def exchange(self) -> None:
        MPI.Prequest.Startall(self.requests)
        MPI.Request.Waitall(self.requests)


class Packed(ByHand):
    """Pack into a buffer per neighbor, use persistent requests, receive directly into the ghosts."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.buffers = [np.empty((len(rows), case.vdim), case.dtype) for _, rows in self.sent]
        self.sends = [self.comm.Send_init([buffer, MPI.BYTE], rank) for buffer, (rank, _) in zip(self.buffers, self.sent)]
        self.receives = [self.comm.Recv_init([self.array[first : first + count], MPI.BYTE], rank)
                         for rank, first, count in self.received]

    def exchange(self) -> None:
        MPI.Prequest.Startall(self.receives)
        for buffer, (_, rows), send in zip(self.buffers, self.sent, self.sends):
            np.take(self.array, rows, axis=0, out=buffer, mode="clip")  # only mode="clip" writes to `out` without a temporary
            send.Start()
        MPI.Request.Waitall(self.receives + self.sends)


class Plain(ByHand):
    """The straightforward code: index, Isend, Irecv."""

    def exchange(self) -> None:
        array, comm = self.array, self.comm
        requests = [comm.Irecv(array[first : first + count], rank) for rank, first, count in self.received]
        packed = [array[rows] for _, rows in self.sent]
        requests += [comm.Isend(rows, rank) for rows, (rank, _) in zip(packed, self.sent)]
        MPI.Request.Waitall(requests)


class PlantedFault(Plain):
    """Sets one wrong value on the last rank to test the verification. Runs only by name."""

    def exchange(self) -> None:
        super().exchange()
        if self.comm.rank == self.comm.size - 1:
            self.array[-1, -1] += 1


class Own(Exchange):
    """The library's exchange, called from Python or, with `native`, from C++ to measure Python's overhead."""

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
    """Copies the same number of owned rows to ghosts within the process, in C++: a lower bound on any exchange."""

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

"""The contenders: the library's arrays, mpi4py by hand, the published way among it, PETSc's star forest, and copies alone as a floor."""

import os
from typing import Any

import numpy as np
import parhelion as ph
from mpi4py import MPI

from .case import Case, Exchange, Rows, Skipped, private_rows


class ByHand(Exchange):
    """What the contenders below share."""

    def __init__(self, case: Case) -> None:
        self.comm, self.rows, self.sent, self.received = case.comm, private_rows(case), case.sent, case.received
        self.array = self.rows.array
        self.bytes, self.messages = case.sent_bytes, len(case.sent)


class Hindexed(ByHand):
    """The published way: one hindexed datatype per neighbor and side, a block for each row, in persistent requests."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        sides = [(self.comm.Recv_init, rank, np.arange(first, first + count)) for rank, first, count in self.received]
        sides += [(self.comm.Send_init, rank, rows) for rank, rows in self.sent]
        self.requests = [self._request(start, rank, rows, case.row_bytes) for start, rank, rows in sides]

    def _request(self, init: Any, rank: int, rows: np.ndarray, row_bytes: int) -> MPI.Prequest:
        kind = MPI.BYTE.Create_hindexed([row_bytes] * len(rows), (rows * row_bytes).tolist()).Commit()
        request = init([self.array, 1, kind], rank)
        kind.Free()  # the request keeps it
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
                         for rank, first, count in self.received]  # fmt: skip

    def exchange(self) -> None:
        MPI.Prequest.Startall(self.receives)
        for buffer, (_, rows), send in zip(self.buffers, self.sent, self.sends):
            np.take(self.array, rows, axis=0, out=buffer, mode="clip")  # clip: the one mode that writes without a copy
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


class StarForest(Exchange):
    """PetscSFBcast of rows as one contiguous datatype each."""

    def __init__(self, case: Case) -> None:
        try:
            from petsc4py import PETSc
        except ImportError as error:
            raise Skipped(f"petsc4py is not here ({error}): pip install petsc4py, built for the same MPI") from None
        self.rows = private_rows(case)
        self.sf = PETSc.SF().create(case.comm)
        remote = np.stack([case.wanted // case.rows, case.wanted % case.rows], axis=1).astype(PETSc.IntType)
        local = np.arange(case.rows, case.rows + len(case.wanted), dtype=PETSc.IntType)
        self.sf.setGraph(case.rows, local, remote.ravel())
        self.sf.setUp()
        self.unit = MPI.BYTE.Create_contiguous(case.row_bytes).Commit()
        self.sent, self.bytes, self.messages = case.sent, len(case.wanted) * case.row_bytes, len(case.received)

    def run(self, times: int) -> None:
        array = self.rows.array
        for _ in range(times):
            self.sf.bcastBegin(self.unit, array, array, MPI.REPLACE)
            self.sf.bcastEnd(self.unit, array, array, MPI.REPLACE)


class Own(Exchange):
    """`exchange()` from Python; with `native`, the same from C++, to see what Python costs."""

    def __init__(self, case: Case, transport: str, native: bool = False) -> None:
        rows = ph.GhostArray(case.map, case.vdim, case.dtype)
        self.rows = Rows(case, rows.array)
        self.call = ph.GhostExchange(rows, transport=transport)
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


class Put(Exchange):
    """Straight compiled copies from own rows into the others' ghosts, in memory that all can reach; then one flag for each."""

    held = True

    def __init__(self, case: Case) -> None:
        self.case, comm = case, case.comm
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        alone = node.size < comm.size
        node.Free()
        if comm.allreduce(int(alone)):
            raise Skipped("the ranks are not all on one node, and only there can they copy straight")
        self.window = MPI.Win.Allocate_shared((case.rows + len(case.wanted)) * case.row_bytes + 64, 1, comm=comm)
        self.flag_window = MPI.Win.Allocate_shared(64, 1, comm=comm)
        array = self._array_of(comm.rank, len(case.wanted))
        array[:] = 0
        self.rows = Rows(case, array)
        self.flags = [np.frombuffer(self.flag_window.Shared_query(rank)[0], np.int64, 1) for rank in range(comm.size)]
        self.flags[comm.rank][0] = self.step = 0
        places = dict(self._places())
        self.copies = [self._copy(rank, rows, places[rank]) for rank, rows in case.sent]
        self.sources = [self.flags[rank] for rank, _, _ in case.received]
        self.bytes = case.sent_bytes
        comm.Barrier()

    def _array_of(self, rank: int, ghosts: int) -> np.ndarray:
        memory, _ = self.window.Shared_query(rank)
        case = self.case
        return np.frombuffer(memory, case.dtype, (case.rows + ghosts) * case.vdim).reshape(-1, case.vdim)

    def _places(self) -> list[tuple[int, int]]:
        """Where the rows from here begin in each reader's array."""
        mine = {owner: first for owner, first, _ in self.case.received}
        told = self.case.comm.alltoall([mine.get(rank, -1) for rank in range(self.case.comm.size)])
        return list(enumerate(told))

    def _copy(self, rank: int, rows: np.ndarray, first: int) -> ph.GhostExchange:
        there = self._array_of(rank, first - self.case.rows + len(rows))[first:]
        map = ph.GhostMap.pull(self.case.rows, rows, MPI.COMM_SELF)
        return ph.GhostExchange(ph.GhostArray.over(map, self.rows.array[: self.case.rows], there))

    def run(self, times: int) -> None:
        mine = self.flags[self.case.comm.rank]
        for _ in range(times):
            for copy in self.copies:
                copy()
            self.step += 1
            mine[0] = self.step
            for flag in self.sources:
                polls = 0
                while flag[0] < self.step:
                    polls += 1
                    if polls > 100:
                        os.sched_yield()  # ranks may share a core

    def free(self) -> None:
        self.window.Free()
        self.flag_window.Free()


class InProcess(Exchange):
    """The same copies from own rows to own ghosts: no other rank, no other core."""

    def __init__(self, case: Case) -> None:
        rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in case.sent)])
        map = ph.GhostMap.pull(case.rows, rows, MPI.COMM_SELF)
        array = ph.GhostArray(map, case.vdim, case.dtype)
        self.rows = Rows(case, array.array, case.comm.rank * case.rows + rows)
        self.call = ph.GhostExchange(array)
        self.bytes = case.sent_bytes

    def run(self, times: int) -> None:
        self.call.run_many(times)

"""What no exchange can beat: the rows copied once, and nothing else that could be left out."""

import os

import numpy as np
from mpi4py import MPI

import parhelion as ph

from .case import Case
from .values import Exchange, Rows, Skipped


class Put(Exchange):
    """Straight compiled copies from own rows into the others' ghosts, in memory that all can reach; then one flag for each."""

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

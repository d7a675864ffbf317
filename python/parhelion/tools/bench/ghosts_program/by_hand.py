"""mpi4py as careful programmers would write it, the published way among them."""

from typing import Any

import numpy as np
from mpi4py import MPI

from .case import Case
from .values import Exchange, private_rows


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

"""How far apart the ranks were in a batch, and whom the others waited for: what bench/arrivals.cpp does for the measuring program."""

from collections import Counter
from typing import Any

import numpy as np
from mpi4py import MPI

MOST_PARTS = 8  # of a batch: each costs a call of Python


def parts_of(exchanges: int) -> list[int]:
    """The exchanges of each part."""
    count = min(exchanges, MOST_PARTS)
    return [exchanges * (part + 1) // count - exchanges * part // count for part in range(count)]


def skew(times: list[list[float]], exchanges: int, comm: MPI.Intracomm) -> dict[str, Any]:
    """`skew_s` and `last_rank` of a case line; nothing but on rank 0. Collective.

    `times`: per sample this rank's clock at the begin and behind each part, comparable on one host; ranks of different hosts are
    compared by the time since the first rank of their host began.
    """
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    begins = np.array([sample[0] for sample in times])
    node.Allreduce(MPI.IN_PLACE, begins, MPI.MIN)
    node.Free()
    every = comm.gather(np.array(times) - begins[:, None])
    if every is None:
        return {}
    by_rank = np.stack(every)  # by rank, sample and moment
    standing_for = np.array([1] + parts_of(exchanges))
    waits = standing_for * (by_rank.max(axis=0) - by_rank.min(axis=0))
    last = by_rank.argmax(axis=0)
    whole = by_rank[:, :, -1].max(axis=0) - by_rank[:, :, 0].min(axis=0)  # what was seen once may stand for too many
    return {"skew_s": (np.minimum(waits.sum(axis=1), whole) / exchanges).tolist(), "last_rank": list(map(_awaited, last, waits))}


def _awaited(last: np.ndarray, waits: np.ndarray) -> int:
    """The rank for which the others have waited longest in all."""
    total: Counter[int] = Counter()
    for rank, wait in zip(last.tolist(), waits.tolist(), strict=True):
        total[rank] += wait
    return max(total, key=lambda rank: total[rank])

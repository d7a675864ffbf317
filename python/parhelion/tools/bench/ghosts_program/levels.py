"""Messages and bytes by the innermost level of the machine that sender and receiver share."""

from typing import Any

import numpy as np

from ....placement import Machine
from .case import Case


def count_by_level(case: Case) -> dict[str, Any]:
    """The record's `traffic_by_level`, of one message to each rank that wants rows. Collective."""
    comm = case.comm
    machine, position = Machine.discovered(comm)
    positions = comm.allgather(position)
    names = ["own_rank", *reversed(machine.levels), "other_node"]
    sums = np.zeros((len(names), 2), np.int64)
    for rank, rows in case.sent:
        sums[names.index(machine.innermost(position, positions[rank]) or "other_node")] += 1, len(rows) * case.row_bytes
    leaving = np.zeros((machine.nodes, 2), np.int64)
    leaving[machine.unit("node", position)] = sums[-1]
    told = dict(zip(names, comm.allreduce(sums))) | {"busiest_node": comm.allreduce(leaving).max(axis=0)}
    return {"traffic_by_level": {name: {"messages": int(messages), "bytes": int(size)} for name, (messages, size) in told.items()}}

"""Rows saved by any number of ranks and loaded by any other, whoever owns them (parhelion run -n 4 saved_rows.py).

A file of NumPy's for each array: ids of the rows, their values, how many entries each has, and the entries. Each rank reads a share of them.
"""

import tempfile
from pathlib import Path

import numpy as np
from mpi4py import MPI

import parhelion as ph


def save(folder, cells, u, nodes, numbers):
    """Owned rows of all ranks, one rank after the other: `u` of the map `cells`, and `numbers` of its ragged map `nodes`."""
    arrays = {"ids": cells.owned_ids, "u": u.owned, "counts": nodes.counts[: cells.owned], "numbers": numbers.owned}
    for name, mine in arrays.items():
        before, file = cells.comm.scan(len(mine)) - len(mine), folder / f"{name}.npy"
        if cells.comm.rank == cells.comm.size - 1:
            np.lib.format.open_memmap(file, "w+", mine.dtype, (before + len(mine), *mine.shape[1:]))
        cells.comm.Barrier()
        np.load(file, mmap_mode="r+")[before : before + len(mine)] = mine


def load(folder, cells):
    """`u`, the ragged map and `numbers` of the rows that this rank owns in `cells`."""
    comm, stored = cells.comm, {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("ids", "u", "counts", "numbers")}
    share = slice(*(len(stored["ids"]) * rank // comm.size for rank in (comm.rank, comm.rank + 1)))
    counts = stored["counts"][share]
    end = comm.scan(int(counts.sum()))
    starts = end - np.cumsum(counts[::-1])[::-1]  # where the entries of these rows are in their file
    move = ph.Redistribution(ph.IndexedDomain.with_owned_ids(stored["ids"][share], comm=comm), cells)
    u, places = cells.zeros(stored["u"].dtype, stored["u"].shape[1:]), cells.zeros("int64", 2)
    move.forward((stored["u"][share].copy(), u), (np.stack([starts, counts], axis=1), places))
    nodes = cells.ragged(places.owned[:, 1])
    numbers = nodes.zeros(stored["numbers"].dtype)
    wanted = np.repeat(places.owned[:, 0] - nodes.offsets[: cells.owned], places.owned[:, 1]) + np.arange(nodes.owned)
    entries = ph.IndexedDomain(int(counts.sum()), comm=comm)
    mine = stored["numbers"][end - entries.owned : end].copy()
    ph.Redistribution(entries, ph.IndexedDomain.with_owned_ids(wanted, comm=comm))(mine, numbers.owned)
    ph.Exchange([(cells, u), (nodes, numbers)])()
    return u, nodes, numbers


def main(comm):
    first, last = (20 * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    cells = ph.IndexMap.pull(last - first, [], comm)
    nodes = cells.ragged(cells.owned_ids % 4)
    u, numbers = cells.zeros(components=2), nodes.zeros("int64")
    u.owned[:] = cells.owned_ids[:, None] + [0.25, 0.5]
    numbers.owned[:] = np.repeat(cells.owned_ids, nodes.counts)
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
    save(folder, cells, u, nodes, numbers)
    comm.Barrier()
    others = ph.IndexMap.pull(np.arange(comm.rank, 20, comm.size)[::-1], [0, 19, 7], comm)  # the same rows, dealt out anew
    u, nodes, numbers = load(folder, others)
    ids = others.global_of(np.arange(others.size))
    return np.array_equal(u, ids[:, None] + [0.25, 0.5]) and np.array_equal(numbers, np.repeat(ids, ids % 4))


if __name__ == "__main__":
    equal = MPI.COMM_WORLD.reduce(main(MPI.COMM_WORLD), MPI.LAND)
    if MPI.COMM_WORLD.rank == 0:
        print(f"{MPI.COMM_WORLD.size} ranks:", "equal to" if equal else "DIFFERENT FROM", "what was saved")

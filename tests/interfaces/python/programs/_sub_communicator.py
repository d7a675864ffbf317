"""Ranks 0 and 1 of 3 do all there is on a communicator of their own, while rank 2 waits in a barrier of MPI.COMM_WORLD."""

import ctypes
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import parhelion as ph
from parhelion.placement import PlacedComm


def exchange_all(comm: MPI.Intracomm, folder: Path) -> None:
    domain = ph.CartesianDomain((12, 10), halo=1, periodic=True, comm=comm)
    names = [each.name for each in ph.transports() if not each.unavailable and each.reach != "rank" and each.name != "xpmem"]
    for name in [*names, "shared|staged_shared", "shared+mpi", "auto"]:
        u = domain.zeros()
        exchange = ph.Exchange(domain, u, transport=name)
        exchange()
        exchange.reverse("sum")
    cells = ph.IndexedDomain(10, [12 if comm.rank == 0 else 3], comm=comm)
    x = cells.zeros()
    ph.Exchange(cells, x)()
    ph.build_pattern(cells).verify()
    map = ph.GhostMap.pull(10, [12 if comm.rank == 0 else 3], comm=comm)
    rows = ph.GhostArray(map, 3)
    ph.GhostExchange(rows)()
    save_rows(rows, folder)
    placed = PlacedComm(comm, cells=(64, 64))
    ph.CartesianDomain((64, 64), process_grid=placed.grid, comm=placed.comm)


# A message of the user's that waits on the same communicator is the user's to receive.
def save_rows(rows: ph.GhostArray, folder: Path) -> None:
    try:
        import h5py  # noqa: F401
    except ImportError:
        return
    comm = rows.map.comm
    note = comm.isend("the user's", (comm.rank + 1) % comm.size, tag=7)
    rows.owned[:] = comm.rank
    rows.save(folder / "rows.h5")
    loaded = ph.GhostArray.load(folder / "rows.h5", rows.map)
    np.testing.assert_array_equal(loaded.owned, rows.owned)
    assert comm.recv(source=(comm.rank - 1) % comm.size, tag=7) == "the user's"
    note.wait()


watch = ctypes.CDLL(None)
watch.watched_world_call.restype = ctypes.c_char_p
half = MPI.COMM_WORLD.Split(0 if MPI.COMM_WORLD.rank < 2 else MPI.UNDEFINED)
if half != MPI.COMM_NULL:
    before = watch.watched_world_calls()
    try:
        exchange_all(half, Path(sys.argv[1]))
    except BaseException as error:
        print("FAILED:", repr(error), flush=True)
        MPI.COMM_WORLD.Abort(3)
    if calls := watch.watched_world_calls() - before:
        print(f"FAILED: {calls} calls on MPI_COMM_WORLD, the last one {watch.watched_world_call().decode()}", flush=True)
MPI.COMM_WORLD.Barrier()

"""Ranks 0 and 1 of 3 do all there is on a communicator of their own, while rank 2 waits in a barrier of MPI.COMM_WORLD."""

import ctypes

from mpi4py import MPI

import parhelion as ph
from parhelion.placement import PlacedComm


def exchange_all(comm: MPI.Intracomm) -> None:
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
    ph.Exchange(ph.build_pattern(cells), x)()
    entries = ph.IndexMap.pull(10, [12 if comm.rank == 0 else 3], comm=comm).ragged([3] * 10)
    entries.forward(entries.zeros())
    placed = PlacedComm(comm, cells=(64, 64))
    ph.CartesianDomain((64, 64), process_grid=placed.grid, comm=placed.comm)


watch = ctypes.CDLL(None)
watch.watched_world_call.restype = ctypes.c_char_p
half = MPI.COMM_WORLD.Split(0 if MPI.COMM_WORLD.rank < 2 else MPI.UNDEFINED)
if half != MPI.COMM_NULL:
    ph.transports()  # loads the library, which asks once how many ranks were launched
    before = watch.watched_world_calls()
    try:
        exchange_all(half)
    except BaseException as error:
        print("FAILED:", repr(error), flush=True)
        MPI.COMM_WORLD.Abort(3)
    if calls := watch.watched_world_calls() - before:
        print(f"FAILED: {calls} calls on MPI_COMM_WORLD, the last one {watch.watched_world_call().decode()}", flush=True)
MPI.COMM_WORLD.Barrier()

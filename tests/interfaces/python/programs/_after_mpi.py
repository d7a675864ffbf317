"""Objects that live longer than MPI: alive or ended at exit, used after MPI.Finalize, under way or combining in a thread when it was called."""

import atexit
import os
import sys
import threading
import time

from mpi4py import MPI

import parhelion as ph
from parhelion.placement import PlacedComm


def end_crosswise() -> None:
    """The second stage of each exchange waits for the other rank to get on with both."""
    for each in pair if rank == 0 else reversed(pair):
        try:
            each.end()
        except ph.Error as error:
            print(f"FAILED: at exit {error}", flush=True)


how = sys.argv[1]
if how == "crosswise_at_exit":
    atexit.register(end_crosswise)  # called after what the library registers below
rank = MPI.COMM_WORLD.rank
domain = ph.CartesianDomain((12, 10), halo=1, periodic=True)
cells = ph.IndexedDomain(10, [12 if rank == 0 else 3])
map = ph.IndexMap.pull(10, [12 if rank == 0 else 3])
map.ragged([3] * 10)
placed = PlacedComm(cells=(64, 64))
names = [each.name for each in ph.transports() if not each.unavailable and each.reach != "rank" and each.name != "xpmem"]
exchanges = {}
for name in [*names, "shared|staged_shared", "auto"]:
    exchanges[name] = ph.Exchange(domain, domain.zeros(), transport=name)
    exchanges[name]()
by_cells = ph.Exchange(cells, cells.zeros())
by_cells()
if how == "under_way":
    for each in exchanges.values():
        each.begin()
if how.startswith("combining"):
    os.environ["PARHELION_PROGRESS"] = "1"
    line = ph.CartesianDomain((12,), halo=1)
    combining, begun = ph.Exchange(line, line.zeros(), transport="mpi"), threading.Event()

    def slow_sum(a, b):
        begun.set()
        time.sleep(0.5)  # without the interpreter's lock
        return a + b

    combining.begin_reverse(ph.Reduction(slow_sum, "f8"))
    assert begun.wait(30), "no thread combines"
if how == "crosswise_at_exit":
    staged = ph.CartesianDomain((12, 10), halo=1, periodic=True, process_grid=(1, 2), algorithm="by_dimension")
    pair = [ph.Exchange(staged, staged.zeros(), transport="mpi", timeout=20) for _ in range(2)]
    for each in pair:
        each.begin()


def refused(what: str, call) -> None:
    try:
        call()
    except (ph.CommunicationError, ValueError) as error:
        if "MPI has ended" in str(error):
            return
        print(f"FAILED: {what} said {error}", flush=True)
    else:
        print(f"FAILED: {what} was not refused", flush=True)


if not how.endswith("at_exit"):
    MPI.Finalize()
    for name, each in exchanges.items():
        refused(name, each.end if how == "under_way" else each)
    refused("cells", by_cells)
    refused("an exchange", lambda: ph.Exchange(domain, domain.zeros()))
    refused("a domain", lambda: ph.CartesianDomain((4, 4)))
    refused("a domain on a communicator", lambda: ph.IndexedDomain(3, comm=domain.comm))
    refused("owners", lambda: cells.owners_of([1]))
    refused("a ragged map", lambda: map.ragged([3] * 10))
    refused("a map", lambda: ph.IndexMap.pull(3))
    refused("a placement", lambda: PlacedComm(cells=(64, 64)))
    refused("a line", lambda: placed.sub((True, False)))
    repr(domain), repr(cells), repr(map)
    assert domain.coordinates == domain.coordinates_of(rank)
print("reached the end", flush=True)

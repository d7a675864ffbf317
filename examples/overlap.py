"""How much of a halo exchange hides behind work: exchange alone, work alone, and work between begin and end.

    parhelion run -n 2 examples/overlap.py ucx      # on two nodes, or on simulated hosts: docs/hosts.md
    … examples/overlap.py ucx 8 idle     # 8 fields; work that leaves the core free, as on an accelerator
    PARHELION_PROGRESS=1 …        # a thread gets messages on that need the processor while the program works
"""

import sys
import time

import numpy as np
from mpi4py import MPI

import parhelion as ph

COMM = MPI.COMM_WORLD
EXTENT, HALO, ROUNDS = 64, 1, 30


def main() -> None:
    transport = sys.argv[1] if len(sys.argv) > 1 else None
    fields = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    # Periodic along x only: a rank's own periodic images would be copies, which hide behind nothing.
    extents, periodic = (EXTENT * COMM.size, EXTENT, EXTENT), (True, False, False)
    domain = ph.CartesianDomain(extents, halo=HALO, periodic=periodic, process_grid=(COMM.size, 1, 1))
    arrays = [domain.zeros(dtype="float32") for _ in range(fields)]
    exchange = ph.Exchange(domain, *arrays, transport=transport, timeout=60)
    exchange()
    communication = median(exchange)
    work = Idle(2 * communication) if sys.argv[3:] == ["idle"] else Work(2 * communication)
    computation = median(work)

    def both() -> None:
        with exchange.begin():
            work()

    together = median(both)
    check(domain, exchange, arrays)
    hidden = (communication + computation - together) / communication
    if COMM.rank == 0:
        print(exchange.explain())
        print(f"{exchange.transport}: exchange {communication * 1e3:.2f} ms, work {computation * 1e3:.2f} ms, "
              f"together {together * 1e3:.2f} ms: {hidden:.0%} hidden")


class Work:
    """Arithmetic that keeps this rank's core busy for about so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._numbers = np.ones(2000)
        start = time.perf_counter()
        for _ in range(200):
            self._sweep()
        self._sweeps = max(1, int(seconds * 200 / (time.perf_counter() - start)))
        self._sweeps = COMM.allreduce(self._sweeps, MPI.MAX)

    def _sweep(self) -> None:
        np.multiply(self._numbers, 1.0000001, out=self._numbers)

    def __call__(self) -> None:
        for _ in range(self._sweeps):
            self._sweep()


class Idle:
    """Waits for so many seconds: somebody else works."""

    def __init__(self, seconds: float) -> None:
        self._seconds = COMM.allreduce(seconds, MPI.MAX)

    def __call__(self) -> None:
        time.sleep(self._seconds)


def median(step) -> float:
    """Seconds that a step takes on the slowest rank, the median of many."""
    times = []
    for _ in range(ROUNDS):
        COMM.Barrier()
        start = time.perf_counter()
        step()
        times.append(COMM.allreduce(time.perf_counter() - start, MPI.MAX))
    return float(np.median(times))


def check(domain: ph.CartesianDomain, exchange: ph.Exchange, arrays: list) -> None:
    """Every ghost along x has its owner's rank."""
    for array in arrays:
        array[...] = -1
        array.owned[...] = COMM.rank
    exchange()
    left, right = (COMM.rank - 1) % COMM.size, (COMM.rank + 1) % COMM.size
    for array in arrays:
        faces = array[:, HALO:-HALO, HALO:-HALO]
        assert (faces[:HALO] == left).all() and (faces[-HALO:] == right).all(), "a ghost is wrong"


if __name__ == "__main__":
    main()

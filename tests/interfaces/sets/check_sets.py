"""Partition sets through Python: check_sets.py FOLDER... Every ghost, and every sum that comes back, is compared with a formula."""

import sys

import numpy as np
from mpi4py import MPI

import parhelion as ph

WORLD = MPI.COMM_WORLD


def check(folder: str) -> int:
    """Wrong values on all ranks."""
    domain = ph.IndexedDomain(*ph.read_partition(folder))
    ids = domain.global_of(np.arange(domain.size))
    expected = 3.0 * ids[:, None] + [1.0, 1.25]
    x = domain.zeros(components=2)
    x.owned[:] = expected[: domain.owned]
    exchange = ph.Exchange(domain, x)
    exchange()
    wrong = np.count_nonzero(x != expected)
    x.owned[:] = 0
    x.ghosts[:] = np.stack([np.ones(len(x.ghosts)), ids[domain.owned :]], axis=1)
    exchange.reverse("sum")
    wrong += np.count_nonzero(x.owned[:, 1] != x.owned[:, 0] * ids[: domain.owned])
    ghosts, sums = WORLD.allreduce(np.array([len(x.ghosts), x.owned[:, 0].sum()]))
    return WORLD.allreduce(int(wrong)) + (ghosts != sums)


def main() -> None:
    all_wrong = 0
    for folder in sys.argv[1:]:
        wrong = check(folder)
        if WORLD.rank == 0:
            print(f"Python {folder}: {'WRONG' if wrong else 'right'}")
        all_wrong += wrong
    sys.exit(int(all_wrong > 0))


if __name__ == "__main__":
    main()

"""A quarter of a ring whose ends continue each other, turned (parhelion run -n 4 turned_ends.py).

Vectors beyond an end arrive in the axes of the other end, and are turned. Contributions of ghosts are turned by the transpose before `reverse`.
"""

import numpy as np
from mpi4py import MPI

import parhelion as ph

CELLS, STEPS = 24, 50
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])  # turns the first quarter into the second


def start(cells):
    return np.stack([cells % 5, cells % 7], axis=1).astype(float)


def step(before, here, after):
    return here + 0.1 * (before - 2 * here + after)


def parallel(comm):
    first, last = (CELLS * rank // comm.size for rank in (comm.rank, comm.rank + 1))  # this rank's cells
    cells = ph.IndexMap.pull(last - first, [(first - 1) % CELLS, last % CELLS], comm)
    u = cells.zeros(components=2)  # a vector for each cell: owned cells, then the two beside them
    u.owned[:] = start(np.arange(first, last))
    fill_ghosts = ph.Exchange(cells, u)
    for _ in range(STEPS):
        fill_ghosts()
        if first == 0:
            u.ghosts[0] = QUARTER.T @ u.ghosts[0]
        if last == CELLS:
            u.ghosts[1] = QUARTER @ u.ghosts[1]
        row = np.concatenate([u.ghosts[:1], u.owned, u.ghosts[1:]])
        u.owned[:] = step(row[:-2], row[1:-1], row[2:])
    return u.owned.copy()


def serial():
    """The whole ring."""
    turns = [np.linalg.matrix_power(QUARTER, quarter) for quarter in range(4)]
    u = np.concatenate([start(np.arange(CELLS)) @ turn.T for turn in turns])
    for _ in range(STEPS):
        u = step(np.roll(u, 1, axis=0), u, np.roll(u, -1, axis=0))
    return u[:CELLS]


if __name__ == "__main__":
    parts = MPI.COMM_WORLD.gather(parallel(MPI.COMM_WORLD))
    if MPI.COMM_WORLD.rank == 0:
        same = np.array_equal(np.concatenate(parts), serial())
        print(f"{len(parts)} ranks:", "equal to" if same else "DIFFERENT FROM", "the serial result")

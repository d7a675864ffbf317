"""Heat on a periodic plane, on one process and on many: the difference is the lesson.

    parhelion run -n 4 heat_cartesian.py

Both keep one ghost cell around their grid and fill it before each step. The results are equal to the last bit.
"""

import numpy as np

import parhelion as ph

SHAPE, STEPS = (48, 40), 50


def start(x, y):
    """Temperature of the cells with these global numbers: hot and cold tiles."""
    return ((x // 6 + y // 5) % 2).astype(float)


def step(u, after):
    """One time step on the cells inside of the halo."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    after[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4 * u[1:-1, 1:-1])


def serial():
    u = np.zeros((SHAPE[0] + 2, SHAPE[1] + 2))
    after = np.zeros_like(u)
    u[1:-1, 1:-1] = start(*np.ogrid[: SHAPE[0], : SHAPE[1]])
    for _ in range(STEPS):
        u[0], u[-1] = u[-2], u[1]  # ghosts are the opposite ends
        u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
        step(u, after)
        u, after = after, u
    return u[1:-1, 1:-1]


def parallel():
    domain = ph.CartesianDomain(SHAPE, halo=1, periodic=True, neighbors="faces")
    u, after = domain.zeros(), domain.zeros()
    fill = ph.Exchange(domain, u)
    u.owned[:] = start(*domain.global_indices())
    for _ in range(STEPS):
        fill(u)  # ghosts are the neighbors' cells
        step(u, after)
        u, after = after, u
    return domain, u.owned


if __name__ == "__main__":
    domain, mine = parallel()
    same = all(domain.comm.allgather(np.array_equal(mine, serial()[domain.owned])))
    if domain.comm.rank == 0:
        print(f"{domain.comm.size} ranks as {domain.process_grid}: {'equal to' if same else 'DIFFERENT FROM'} the serial result")
    raise SystemExit(not same)

"""Heat on a periodic plane, on one GPU and on one per rank: the difference is the lesson. Needs CuPy.

    parhelion run -n 4 heat_gpu.py

Cells that need no ghosts are computed while ghosts travel. The results are equal to the last bit.
"""

import cupy
import numpy as np
from mpi4py import MPI

import parhelion as ph

SHAPE, STEPS = (48, 40), 50


def start(x, y):
    """Temperature of the cells with these global numbers: hot and cold tiles."""
    return ((x // 6 + y // 5) % 2).astype(float)


def step(u, after, top, bottom, left, right):
    """One time step on these rows and columns of the array."""
    here = u[top:bottom, left:right]
    around = u[top - 1 : bottom - 1, left:right] + u[top + 1 : bottom + 1, left:right]
    around = around + u[top:bottom, left - 1 : right - 1] + u[top:bottom, left + 1 : right + 1]
    after[top:bottom, left:right] = here + 0.1 * (around - 4 * here)


def serial():
    rows, columns = SHAPE
    u, after = cupy.zeros((rows + 2, columns + 2)), cupy.zeros((rows + 2, columns + 2))
    u[1:-1, 1:-1] = cupy.asarray(start(*np.ogrid[:rows, :columns]))
    for _ in range(STEPS):
        u[0], u[-1] = u[-2], u[1]  # ghosts are the opposite ends
        u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
        step(u, after, 1, rows + 1, 1, columns + 1)
        u, after = after, u
    return cupy.asnumpy(u[1:-1, 1:-1])


def parallel():
    domain = ph.CartesianDomain(SHAPE, halo=1, periodic=True, neighbors="faces")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        u, after = cupy.zeros(domain.array_shape()), cupy.zeros(domain.array_shape())
        fill = ph.Exchange(domain, u, overlap=True)
        u[1:-1, 1:-1] = cupy.asarray(start(*domain.global_indices()))
        bottom, right = u.shape[0] - 1, u.shape[1] - 1
        for _ in range(STEPS):
            with fill.begin(u, stream=stream.ptr):  # ghosts are the neighbors' cells
                step(u, after, 2, bottom - 1, 2, right - 1)
            step(u, after, 1, 2, 1, right)
            step(u, after, bottom - 1, bottom, 1, right)
            step(u, after, 2, bottom - 1, 1, 2)
            step(u, after, 2, bottom - 1, right - 1, right)
            u, after = after, u
        return domain, cupy.asnumpy(u[1:-1, 1:-1])


if __name__ == "__main__":
    node = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    cupy.cuda.Device(node.rank % cupy.cuda.runtime.getDeviceCount()).use()
    domain, mine = parallel()
    same = all(domain.comm.allgather(np.array_equal(mine, serial()[domain.owned])))
    if domain.comm.rank == 0:
        print(f"{domain.comm.size} ranks as {domain.process_grid}: {'equal to' if same else 'DIFFERENT FROM'} the serial result")
    raise SystemExit(not same)

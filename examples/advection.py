"""Finite volumes: two tracers in a rotating wind on a mesh of triangles (parhelion run -n 4 advection.py).

A rank has a block of cells and pulls those beyond them as ghosts; results equal the serial ones to the last bit.
"""

import numpy as np
from mpi4py import MPI
from scipy.spatial import Delaunay

import parhelion as ph

STEPS, TIME_STEP = 400, 4e-4


def make_mesh():
    """Per cell: its three neighbors (itself at the rim), the wind out of each face, its area, its tracers at first."""
    x, y = np.mgrid[-1:1:31j, -1:1:31j].reshape(2, -1)
    shake = np.random.default_rng(7).uniform(-0.02, 0.02, (2, x.size)) * (1 - np.maximum(abs(x), abs(y)) ** 50)
    mesh = Delaunay(np.stack([x, y], axis=1) + shake.T)
    order = np.argsort(x[mesh.simplices].mean(axis=1))  # by x: ranks get strips with few neighbors
    corners, neighbors = mesh.simplices[order], np.append(np.argsort(order), -1)[mesh.neighbors[order]]
    a, b, c = mesh.points[corners].transpose(1, 2, 0)
    area = ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2  # negative where clockwise
    stream = ((1 - x**2) * (1 - y**2))[corners]  # the wind blows along lines on which this is constant
    wind = np.sign(area)[:, None] * (np.roll(stream, -2, axis=1) - np.roll(stream, -1, axis=1))
    tracers = np.stack([np.hypot(a[0] - 0.5, a[1]) < 0.3, a[0] < 0], axis=1).astype(float)
    return np.where(neighbors < 0, np.arange(len(area))[:, None], neighbors), wind, abs(area), tracers


def step(neighbors, wind, area, u):
    """The tracers of the first len(area) cells, one time step later: what flows comes from the windward side."""
    mine = u[: len(area)]
    windward = np.where(wind[..., None] > 0, mine[:, None], u[neighbors])
    return mine - TIME_STEP * (wind[..., None] * windward).sum(axis=1) / area[:, None]


def parallel(comm):
    neighbors, wind, area, start = make_mesh()
    first, last = (len(area) * rank // comm.size for rank in (comm.rank, comm.rank + 1))  # this rank's cells
    neighbors, wind, area = neighbors[first:last], wind[first:last], area[first:last]
    beyond = np.unique(neighbors[(neighbors < first) | (neighbors >= last)])  # cells of other ranks become ghosts
    cells = ph.IndexMap.pull(last - first, beyond, comm)
    neighbors = cells.local_of(neighbors)  # from global to local numbers
    u = cells.zeros(components=2)  # a row of two tracers for each cell: owned cells, then ghosts
    u.owned[:] = start[first:last]
    fill_ghosts = ph.Exchange(cells, u)
    for _ in range(STEPS):
        fill_ghosts()  # every ghost row gets its owner's
        u.owned[:] = step(neighbors, wind, area, u)
    return u.owned.copy()


if __name__ == "__main__":
    parts = MPI.COMM_WORLD.gather(parallel(MPI.COMM_WORLD))
    if MPI.COMM_WORLD.rank == 0:
        *mesh, u = make_mesh()  # and the same without ranks
        for _ in range(STEPS):
            u = step(*mesh, u)
        print(f"{len(parts)} ranks:", "equal to" if np.array_equal(np.concatenate(parts), u) else "DIFFERENT FROM", "the serial result")

"""Heat on a disk with an unstructured mesh, on one process and on many: the difference is the lesson.

    parhelion run -n 4 heat_disk.py

Finite volumes: every face moves heat between its two cells, in proportion to their difference. The parallel run takes the
faces of its own cells, in the same order, so that the results are equal to the last bit. heat_disk.f90 is the same in Fortran.
"""

import numpy as np

import parhelion as ph

RINGS, SECTORS, STEPS, TIME_STEP = 12, 24, 400, 5e-5
CELLS = RINGS * SECTORS


def make_mesh():
    """Cells on both sides of each face (−1: the cold rim), how well it conducts; volume and first temperature of each cell."""
    angle, width = 2 * np.pi / SECTORS, 1 / RINGS
    sector, ring = np.divmod(np.arange(CELLS), RINGS)
    outward = np.where(ring + 1 < RINGS, sector * RINGS + ring + 1, -1)
    around = (sector + 1) % SECTORS * RINGS + ring
    faces = np.stack([np.arange(CELLS), outward, np.arange(CELLS), around], axis=1).reshape(-1, 2)
    conductance = np.stack([angle * (ring + 1) * np.where(outward < 0, 2, 1), 1 / (angle * (ring + 0.5))], axis=1).ravel()
    return faces, conductance, angle * width**2 * (ring + 0.5), (3 * sector < SECTORS).astype(float)


def step(faces, conductance, volume, u):
    """One time step of the first len(volume) cells."""
    a, b = faces.T
    inside = b >= 0
    flow = conductance * (np.where(inside, u[b], 0) - u[a])
    gain = np.zeros(len(u))
    np.add.at(gain, a, flow)  # face after face: the order is part of the result
    np.subtract.at(gain, b[inside], flow[inside])
    u[: len(volume)] += TIME_STEP * gain[: len(volume)] / volume


def serial():
    faces, conductance, volume, u = make_mesh()
    for _ in range(STEPS):
        step(faces, conductance, volume, u)
    return u


def parallel(rank, ranks):
    faces, conductance, volume, start = make_mesh()
    first, last = CELLS * rank // ranks, CELLS * (rank + 1) // ranks  # this rank's cells …
    mine = ((faces >= first) & (faces < last)).any(axis=1)  # … and the faces that touch them
    faces = faces[mine]
    beyond = np.unique(faces[(faces >= 0) & ((faces < first) | (faces >= last))])
    domain = ph.IndexedDomain(last - first, beyond)  # cells beyond them become ghosts
    faces = domain.local_of(faces)
    u = domain.zeros()
    u[: domain.owned] = start[first:last]
    fill = ph.Exchange(domain, u)
    for _ in range(STEPS):
        fill()  # ghosts get their owners' values
        step(faces, conductance[mine], volume[first:last], u)
    return u[: domain.owned]


if __name__ == "__main__":
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    parts = world.gather(np.array(parallel(world.rank, world.size)))
    same = world.rank > 0 or np.array_equal(np.concatenate(parts), serial())
    if world.rank == 0:
        print(f"{world.size} ranks: {'equal to' if same else 'DIFFERENT FROM'} the serial result, "
              f"hottest cell {max(map(max, filter(len, parts))):.3f}")
    raise SystemExit(not same)

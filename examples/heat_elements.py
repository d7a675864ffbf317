"""Heat on a disk with finite elements, on one process and on many: the difference is the lesson.

    parhelion run -n 4 heat_elements.py

Linear elements on triangles, lumped masses. Every element adds to its three nodes, some of which may belong to another rank:
ghosts collect what is added here, and a reverse exchange brings it to their owners. An owner adds what other ranks' elements gave
after what its own did, which is another order than that of the serial run: results agree to within 10⁻¹² of the hottest node and
not to the last bit. heat_elements.f90 is the same in Fortran.
"""

import numpy as np

import parhelion as ph

RINGS, SECTORS, STEPS, TIME_STEP = 10, 24, 400, 1e-4
NODES = 1 + RINGS * SECTORS


def node_at(ring, sector):
    """The middle is node 0, then sector follows sector."""
    return np.where(ring == 0, 0, sector % SECTORS * RINGS + ring)


def make_mesh():
    """Nodes of each triangle, places and first temperatures of the nodes; the rim is kept cold (inside is 0 there, else 1)."""
    sector, ring = (index.ravel() for index in np.indices((SECTORS, RINGS)))
    ring = ring + 1
    outer = np.stack([node_at(ring - 1, sector), node_at(ring, sector), node_at(ring, sector + 1)], axis=1)
    inner = np.stack([node_at(ring - 1, sector), node_at(ring, sector + 1), node_at(ring - 1, sector + 1)], axis=1)
    corners = np.stack([outer, inner], axis=1).reshape(-1, 3)
    corners = corners[np.repeat(ring > 1, 2) | (np.arange(len(corners)) % 2 == 0)]  # in the middle, one triangle a sector
    angle = 2 * np.pi * sector / SECTORS
    place = np.vstack([[0, 0], np.stack([np.cos(angle), np.sin(angle)], axis=1) * (ring / RINGS)[:, None]])
    inside = np.append(1.0, ring < RINGS)
    return corners, place, inside, inside * (place[:, 0] > 0)


def add_elements(corners, place, u, mass, gain):
    """What every triangle adds to its nodes: a third of its area to their masses, and the heat that flows into them."""
    edge = place[np.roll(corners, -2, axis=1)] - place[np.roll(corners, -1, axis=1)]  # opposite of each node
    double_area = edge[:, 0, 0] * edge[:, 1, 1] - edge[:, 0, 1] * edge[:, 1, 0]
    slope = np.einsum("tnd,tn->td", edge, u[corners]) / (2 * double_area)[:, None]
    np.add.at(mass, corners, (double_area / 6)[:, None])
    np.subtract.at(gain, corners, np.einsum("td,tnd->tn", slope, edge))


def serial():
    corners, place, inside, u = make_mesh()
    for _ in range(STEPS):
        mass, gain = np.zeros(NODES), np.zeros(NODES)
        add_elements(corners, place, u, mass, gain)
        u += TIME_STEP * inside * gain / mass
    return u


def parallel(rank, ranks):
    corners, place, inside, start = make_mesh()
    first, last = NODES * rank // ranks, NODES * (rank + 1) // ranks  # this rank's nodes …
    corners = corners[len(corners) * rank // ranks : len(corners) * (rank + 1) // ranks]  # … and triangles
    beyond = np.unique(corners[(corners < first) | (corners >= last)])
    domain = ph.IndexedDomain(last - first, beyond)  # their other nodes become ghosts
    corners, place = domain.local_of(corners), place[domain.global_of(np.arange(domain.size))]
    u, mass, gain = domain.zeros(), domain.zeros(), domain.zeros()
    u.owned[:] = start[first:last]
    fill, assemble = ph.Exchange(domain, u), ph.Exchange(domain, mass, gain)
    for _ in range(STEPS):
        mass[:] = gain[:] = 0
        fill()  # ghosts get their owners' values
        add_elements(corners, place, u, mass, gain)
        assemble.reverse("sum")  # owners get what was added to ghosts
        u.owned[:] += TIME_STEP * inside[first:last] * gain.owned / mass.owned
    return u.owned


if __name__ == "__main__":
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    parts = world.gather(np.array(parallel(world.rank, world.size)))
    same = True
    if world.rank == 0:
        expected, result = serial(), np.concatenate(parts)
        same = np.abs(result - expected).max() <= 1e-12 * expected.max()
        words = "within 1e-12 of" if same else "DIFFERENT FROM"
        print(f"{world.size} ranks: {words} the serial result, hottest node {result.max():.3f}")
    raise SystemExit(not same)

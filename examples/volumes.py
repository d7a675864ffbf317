"""−Δu = 4 on the unit disk by finite volumes on triangles: docs/tutorial-mesh.md."""

import meshio
import numpy as np
import parhelion as ph
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = f"maps/disk-{comm.size}"
cells = ph.IndexMap.pull(*ph.read_partition(path))            # triangles of this part, then ghosts beyond its faces
number = cells.zeros("int64")
number.owned[:] = ph.read_partition_keys(path)[:, 0]          # their numbers in the file,
cells.forward(number)                                         # also of the ghosts
mesh = meshio.read("disk.vtu")
corners = mesh.cells_dict["triangle"][number]

edges = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2))
ends, face = np.unique(edges, axis=0, return_inverse=True)
sides = np.argsort(face.ravel(), kind="stable")               # the two sides of a face follow each other
first = np.searchsorted(face.ravel()[sides], np.arange(len(ends)))
shared = np.diff(np.append(first, len(sides))) == 2
a, b = sides[first] // 3, sides[np.minimum(first + 1, len(sides) - 1)] // 3
mine = a < cells.owned                                        # faces of owned cells
ends, a, b, inside = ends[mine], a[mine], b[mine], shared[mine]

p = mesh.points[corners, :2]
ab, ac = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
double = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]            # twice the area
squares = (ab**2).sum(axis=1), (ac**2).sum(axis=1)
center = p[:, 0] + np.column_stack([ac[:, 1] * squares[0] - ab[:, 1] * squares[1],    # equally far from all corners,
                                    ab[:, 0] * squares[1] - ac[:, 0] * squares[0]]) / (2 * double)[:, None]
rim = mesh.points[ends, :2].mean(axis=1)                      # so that lines between centers cross faces upright
span = np.linalg.norm(np.where(inside[:, None], center[b], rim) - center[a], axis=1)
conductance = np.linalg.norm(np.subtract(*mesh.points[ends, :2].swapaxes(0, 1)), axis=1) / span


def apply(x):
    """Outflow of each owned cell; fills the ghosts of x first."""
    cells.forward(x)
    flow = conductance * (x[a] - np.where(inside, x[b], 0))   # the rim stays cold
    y = np.zeros(cells.size)
    np.add.at(y, a, flow)
    np.subtract.at(y, b[inside], flow[inside])
    return y[: cells.owned]


def dot(x, y):
    return comm.allreduce(float(x @ y))


u, d = cells.zeros(), cells.zeros()
r = 2 * np.abs(double[: cells.owned])                         # the source, 4, over each cell
d.owned[:] = r
rr = start = dot(r, r)
while rr > 1e-20 * start:
    q = apply(d)
    alpha = rr / dot(d.owned, q)
    u.owned[:] += alpha * d.owned
    r -= alpha * q
    rr, before = dot(r, r), rr
    d.owned[:] = r + rr / before * d.owned

error = np.abs(u.owned - (1 - (center[: cells.owned] ** 2).sum(axis=1))).max()
error = comm.allreduce(error, MPI.MAX)
if comm.rank == 0:
    print(f"converged, largest error {error:.1e}")

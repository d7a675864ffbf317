"""Small meshes for the partition tests, and the definitions of faces and ghosts written out slowly."""

from itertools import combinations

import meshio
import numpy as np
from scipy.spatial import Delaunay


def tetrahedra(points: int, seed: int) -> meshio.Mesh:
    """A Delaunay mesh of random points."""
    cloud = np.random.default_rng(seed).random((points, 3))
    return meshio.Mesh(cloud, [("tetra", Delaunay(cloud).simplices)])


def triangles(points: int, seed: int) -> meshio.Mesh:
    cloud = np.random.default_rng(seed).random((points, 2))
    return meshio.Mesh(cloud, [("triangle", Delaunay(cloud).simplices)])


def bricks(nx: int, ny: int, nz: int) -> meshio.Mesh:
    """A grid of hexahedra."""
    number = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    low, high = slice(None, -1), slice(1, None)
    corners = [(low, low, low), (high, low, low), (high, high, low), (low, high, low),
               (low, low, high), (high, low, high), (high, high, high), (low, high, high)]
    cells = np.stack([number[corner].ravel() for corner in corners], axis=1)
    points = np.stack(np.unravel_index(number.ravel(), number.shape), axis=1).astype(float)
    return meshio.Mesh(points, [("hexahedron", cells)])


def mixed() -> meshio.Mesh:
    """A hexahedron with a pyramid on top, a wedge at its side and a tetrahedron on the pyramid."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1],
                       [0.5, 0.5, 2], [2, 0.5, 0], [2, 0.5, 1], [0.5, -1, 2]], dtype=float)
    return meshio.Mesh(points, [
        ("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("pyramid", [[4, 5, 6, 7, 8]]),
        ("wedge", [[1, 2, 9, 5, 6, 10]]),
        ("tetra", [[4, 5, 8, 11]]),
        ("triangle", [[0, 1, 2]]),
    ])


def simplex_entities(cells: np.ndarray, size: int) -> list[set[tuple[int, ...]]]:
    """Per cell, all of its subsets of `size` nodes: nodes 1, edges 2, faces of a tetrahedron 3."""
    return [set(combinations(sorted(cell.tolist()), size)) for cell in cells]

"""Demo mesh: a casting, a flanged hub with bolt holes, meshed by Netgen.

Netgen's wheel needs no system libraries (gmsh's needs OpenGL), takes constructive solid geometry and refines onto curved surfaces; its licence
(LGPL) allows the use.
"""

import math
from pathlib import Path

import numpy as np

from ..base.files import replacing
from .maps import IndexMapError, read_index_maps, write_index_maps
from .mesh import MeshError, read_mesh
from .partition import dual_graph, index_maps, partition_cells

_BOLTS = 6
# Mesh size h gives about 6.4 / h³ cells on this geometry.
_CELLS_AT_UNIT_SIZE = 6.4
_TRIES = 3
_NEAR_ENOUGH = 0.2
_MOST_BEFORE_REFINEMENT = 30_000


def demo_mesh(folder: str | Path, cells: int = 200_000) -> Path:
    """Create a VTU file of a casting with about `cells` tetrahedra (at least 4,800 or so). Local.

    The first use takes seconds; later ones reuse the file in `folder`.
    """
    if cells < 1:
        raise MeshError(f"{cells} cells: give at least 1")
    path = Path(folder) / f"casting-{int(cells)}.vtu"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            _casting(cells).write(temporary, file_format="vtu", compression=None)
    return path


def demo_partition(folder: str | Path, parts: int, cells: int = 200_000) -> Path:
    """Create the folder `casting-CELLS-PARTS` with the demo mesh's cells in the published format. Local.

    Ghosts are the cells that share a node with a cell of the part, as many as in published sets. Later calls reuse the folder. Raises MeshError for
    impossible `parts`.
    """
    path = Path(folder) / f"casting-{int(cells)}-{parts}"
    try:
        read_index_maps(path)
    except IndexMapError:
        mesh = read_mesh(demo_mesh(folder, cells))
        write_index_maps(index_maps(mesh, partition_cells(dual_graph(mesh), parts), parts, adjacency="nodes"), path)
    return path


def _casting(cells: int):
    """Mesh coarsely, then refine each tetrahedron into eight, repeatedly."""
    import meshio

    refinements = max(0, math.ceil(math.log(cells / _MOST_BEFORE_REFINEMENT, 8)))
    mesh = _coarse(cells / 8**refinements)
    for _ in range(refinements):
        mesh.Refine()
    # Netgen counts from 1 and orients tetrahedra opposite to VTK.
    nodes = mesh.Elements3D().NumPy()["nodes"][:, [1, 0, 2, 3]].astype(np.int64) - 1
    return meshio.Mesh(np.array(mesh.Coordinates()), [("tetra", nodes)])


def _coarse(cells: float):
    """Closest mesh to `cells` in a few tries: the count jumps as the mesh size passes a feature's."""
    from netgen.csg import CSGeometry

    geometry = CSGeometry()
    geometry.Add(_flanged_hub())
    size, tried = (_CELLS_AT_UNIT_SIZE / cells) ** (1 / 3), []
    for _ in range(_TRIES):
        tried.append(geometry.GenerateMesh(maxh=size))
        if abs(tried[-1].ne / cells - 1) < _NEAR_ENOUGH:
            break
        size *= (tried[-1].ne / cells) ** (1 / 4)
    return min(tried, key=lambda mesh: abs(mesh.ne - cells))


def _flanged_hub():
    flange, hub = _bar(0, 0, 1.0, 0.4), _bar(0, 0, 0.35, 1.0)
    solid = flange + hub - _cylinder(0, 0, 0.18)
    for bolt in range(_BOLTS):
        angle = 2 * math.pi * bolt / _BOLTS
        solid = solid - _cylinder(0.68 * math.cos(angle), 0.68 * math.sin(angle), 0.14)
    return solid


def _cylinder(x: float, y: float, radius: float):
    from netgen.csg import Cylinder, Pnt

    return Cylinder(Pnt(x, y, 0), Pnt(x, y, 1), radius)


def _bar(x: float, y: float, radius: float, height: float):
    from netgen.csg import Plane, Pnt, Vec

    ends = Plane(Pnt(0, 0, 0), Vec(0, 0, -1)) * Plane(Pnt(0, 0, height), Vec(0, 0, 1))
    return _cylinder(x, y, radius) * ends

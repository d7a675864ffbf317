"""Meshes for partitioning, with cells of the highest dimension, in any format that meshio reads.

Corners are in VTK order, as in meshio. A facet has one dimension less than its cell: a triangle or quadrilateral in 3-D, an edge in 2-D, a
point in 1-D.
"""

import contextlib
import io
import re
import resource
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import InputError


class MeshError(InputError):
    """A mesh is unreadable, or cannot be partitioned as requested."""


@dataclass(frozen=True)
class Shape:
    """A cell shape: dimension, corners, and facets and edges by corner."""

    dimension: int
    corners: int
    facets: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, ...], ...]


def _polygon(corners: int) -> Shape:
    sides = tuple((i, (i + 1) % corners) for i in range(corners))
    return Shape(2, corners, sides, sides)


_SHAPES = {
    "line": Shape(1, 2, ((0,), (1,)), ((0, 1),)),
    "triangle": _polygon(3),
    "quad": _polygon(4),
    "tetra": Shape(
        3, 4,
        ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
        ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
    ),
    "pyramid": Shape(
        3, 5,
        ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
        ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
    ),
    "wedge": Shape(
        3, 6,
        ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
        ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
    ),
    "hexahedron": Shape(
        3, 8,
        ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
        ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4),
         (0, 4), (1, 5), (2, 6), (3, 7)),
    ),
}

_LAGRANGE = {
    "CURVE": "line", "TRIANGLE": "triangle", "QUADRILATERAL": "quad", "TETRAHEDRON": "tetra",
    "PYRAMID": "pyramid", "WEDGE": "wedge", "HEXAHEDRON": "hexahedron",
}

# Cells without facets mark points; a mesh of them alone has no neighbors.
POINT_KINDS = ("vertex", "VTK_VERTEX", "poly_vertex")


def shape_of(kind: str, width: int) -> Shape | None:
    """Shape of meshio's cell type `kind` with `width` nodes per cell; None if unknown.

    Curved cells (`tetra10`, `VTK_LAGRANGE_HEXAHEDRON`, …) have the shape of their corners.
    """
    if kind.startswith("polygon"):
        return _polygon(width) if width >= 3 else None
    lagrange = kind.removeprefix("VTK_LAGRANGE_")
    shape = _SHAPES.get(_LAGRANGE.get(lagrange, re.sub(r"\d+$", "", kind)))
    return shape if shape and width >= shape.corners else None


@dataclass(frozen=True)
class Block:
    """Cells of one shape: `nodes[c]` holds the point numbers of cell c, corners first."""

    kind: str
    shape: Shape
    nodes: np.ndarray


@dataclass(frozen=True)
class Mesh:
    """Cells of the highest dimension, in file order, numbered from 0 through all `blocks`.

    `left_out` counts cells of lower dimension by type, such as the boundary triangles of a tetrahedral mesh.
    """

    name: str
    points: np.ndarray
    blocks: tuple[Block, ...]
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def dimension(self) -> int:
        return self.blocks[0].shape.dimension

    @property
    def cells(self) -> int:
        return sum(len(block.nodes) for block in self.blocks)

    @property
    def cell_types(self) -> dict[str, int]:
        return _counted((block.kind, len(block.nodes)) for block in self.blocks)


def mesh_from_meshio(source, name: str = "mesh", where: object = None) -> Mesh:
    """Take the cells of highest dimension of a `meshio.Mesh`. Local; copies arrays other than int64.

    Raises MeshError if there are no cells, the facets of a cell type are unknown (`polyhedron`), or a point does not exist; `where` (else `name`)
    opens the message.
    """
    where = where or name
    filled = [block for block in source.cells if len(block.data)]
    blocks = [_block(block, len(source.points), where) for block in filled if block.type not in POINT_KINDS]
    if not blocks:
        raise MeshError(f"{where}: no cells with faces in it: partitioning needs lines, surfaces or solids")
    top = max(block.shape.dimension for block in blocks)
    mesh = Mesh(name, np.asarray(source.points), tuple(block for block in blocks if block.shape.dimension == top))
    mesh.left_out.update(_counted((block.type, len(block.data)) for block in filled if block.type not in mesh.cell_types))
    return mesh


def _counted(blocks: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for kind, cells in blocks:
        counts[kind] += cells
    return dict(counts)


def _block(block, points: int, where: object) -> Block:
    try:
        nodes = np.ascontiguousarray(block.data, dtype=np.int64)
    except (TypeError, ValueError):
        nodes = np.empty((0, 0), dtype=np.int64)
    shape = shape_of(block.type, nodes.shape[1]) if nodes.ndim == 2 else None
    if shape is None:
        raise MeshError(
            f"{where}: cells of type {block.type!r} are not supported: "
            "split them into tetrahedra, pyramids, wedges or hexahedra (in 2-D, polygons)"
        )
    for cell, corner in np.argwhere((nodes < 0) | (nodes >= points))[:1]:
        raise MeshError(
            f"{where}: {block.type} {cell} names point {nodes[cell, corner]}, but there are {points} points "
            "(numbered from 0): the file is damaged, write it again"
        )
    return Block(block.type, shape, nodes)


# Text and compressed data expand: a reader may use this multiple of the file's size, and SPARE_BYTES.
MOST_GROWTH = 200
SPARE_BYTES = 2**30

# meshio reads some forty formats and is the usual reader in Python. On a bad file it exits the process, which a library must prevent.


def read_mesh(path: str | Path, file_format: str | None = None) -> Mesh:
    """Read the mesh in `path`, in `file_format` or the format of its suffix. Local.

    Raises MeshError if the file is missing, empty, damaged, of an unknown format, or has no cells to partition.
    """
    import meshio

    path, said = Path(path), io.StringIO()
    if not path.is_file():
        raise MeshError(f"{path}: " + ("not a regular file: give the mesh file itself" if path.exists() else "no such mesh file: check the path"))
    size = path.stat().st_size
    if size == 0:
        raise MeshError(f"{path}: the mesh file is empty: write it again")
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), _memory_within(size):
            read = meshio.read(path, file_format)
    except MemoryError:
        raise MeshError(f"{path}: the file declares more data than its {size} bytes, or there is not enough "
                        "memory: check that it is whole") from None
    except ImportError as error:
        raise MeshError(f"{path}: the file cannot be read: install the Python package {error.name or 'that this format needs'}") from error
    except (Exception, SystemExit) as error:
        why = said.getvalue() if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise MeshError(f"{path}: the file cannot be read ({' '.join(why.split())}): "
                        "check that the file is complete and its extension matches its format") from error
    return mesh_from_meshio(read, path.stem, path)


@contextlib.contextmanager
def _memory_within(file_bytes: int) -> Iterator[None]:
    """Limit memory: a damaged file may claim billions of points, for which readers allocate before they check."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([taken + SPARE_BYTES + MOST_GROWTH * file_bytes, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

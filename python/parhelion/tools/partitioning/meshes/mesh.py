"""A mesh as partitioning needs it: points that exist, and cells of the highest dimension."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import MeshError
from .cells import POINT_KINDS, Shape, shape_of


@dataclass(frozen=True)
class Block:
    """Cells of one shape: `nodes[c]` holds the point numbers of cell c, corners first."""

    kind: str
    shape: Shape
    nodes: np.ndarray


@dataclass(frozen=True)
class Mesh:
    """Cells in the order of the file, those of lower dimension left out.

    Cells are numbered from 0 through all `blocks`. `left_out` counts, by type, the cells of lower
    dimension, such as the boundary triangles of a tetrahedral mesh.
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
        return dict(_counted((block.kind, block.nodes) for block in self.blocks))


def _counted(blocks: Iterable[tuple[str, Sequence[object]]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind, cells in blocks:
        counts[kind] += len(cells)
    return counts


def mesh_from_meshio(source, name: str = "mesh", where: object = None) -> Mesh:
    """The cells of highest dimension of a `meshio.Mesh`. Local; copies what is not int64.

    Raises MeshError when there are no cells, a cell type has no known facets (`polyhedron`), or a
    cell names a point that does not exist; `where` (else `name`) opens the message.
    """
    where = where or name
    filled = [block for block in source.cells if len(block.data)]
    blocks = [_block(block, len(source.points), where) for block in filled if block.type not in POINT_KINDS]
    if not blocks:
        raise MeshError(f"{where}: no cells with faces in it: partitioning needs lines, surfaces or solids")
    top = max(block.shape.dimension for block in blocks)
    kept = tuple(block for block in blocks if block.shape.dimension == top)
    left_out = _counted((block.type, block.data) for block in filled) - _counted((block.kind, block.nodes) for block in kept)
    return Mesh(name, np.asarray(source.points), kept, dict(left_out))


def _block(block, points: int, where: object) -> Block:
    try:
        nodes = np.ascontiguousarray(block.data, dtype=np.int64)
    except (TypeError, ValueError):
        nodes = np.empty((0, 0), dtype=np.int64)
    shape = shape_of(block.type, nodes.shape[1]) if nodes.ndim == 2 else None
    if shape is None:
        raise MeshError(
            f"{where}: cells of type {block.type!r} have no table of faces here: "
            "split them into tetrahedra, pyramids, wedges or hexahedra (in 2-D, polygons)"
        )
    _check_points(nodes, points, block.type, where)
    return Block(block.type, shape, nodes)


def _check_points(nodes: np.ndarray, points: int, kind: str, where: object) -> None:
    outside = (nodes < 0) | (nodes >= points)
    if outside.any():
        cell, corner = np.argwhere(outside)[0]
        raise MeshError(
            f"{where}: {kind} {cell} names point {nodes[cell, corner]}, but there are {points} points "
            "(numbered from 0): write the mesh again, this file is damaged"
        )

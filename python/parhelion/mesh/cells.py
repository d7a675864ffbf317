"""Reference cells: the facets and edges of every cell shape that a mesh may hold.

Corner numbering is VTK's, which meshio uses for every format it reads. A facet has one dimension
less than its cell: a triangle or quadrilateral in 3-D, an edge in 2-D, a point in 1-D.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A cell shape: its dimension, its corners and, by corner, its facets and edges."""

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
}  # fmt: skip

# Cells without facets: they mark points in a file, and a mesh of them alone has no neighbors.
POINT_KINDS = ("vertex", "VTK_VERTEX", "poly_vertex")


def shape_of(kind: str, width: int) -> Shape | None:
    """The shape of meshio's cell type `kind` with `width` nodes a cell, or None if unknown.

    Curved cells (`tetra10`, `VTK_LAGRANGE_HEXAHEDRON`, …) have the shape of their corners.
    """
    if kind.startswith("polygon"):
        return _polygon(width) if width >= 3 else None
    lagrange = kind.removeprefix("VTK_LAGRANGE_")
    shape = _SHAPES.get(_LAGRANGE.get(lagrange, re.sub(r"\d+$", "", kind)))
    return shape if shape and width >= shape.corners else None

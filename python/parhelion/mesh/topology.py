"""Incidence of cells and faces, edges or nodes, as sparse matrices, without loops over cells."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .mesh import Block, Mesh, MeshError

ENTITIES = ("cells", "faces", "edges", "nodes")
"""Entities for which index maps can be created."""
ABSENT = -1


@dataclass(frozen=True)
class Incidence:
    """`touches[c, e]` is nonzero where cell c touches entity e.

    `keys[e]` identifies the entity in the file: sorted point numbers, padded with -1 to the widest; for cells, the cell number.
    """

    touches: sparse.csr_array
    keys: np.ndarray


def incidence(mesh: Mesh, entities: str) -> Incidence:
    """Cells × entities of `mesh`, for `entities` one of cells, faces, edges, nodes.

    Faces are facets (edges in 2-D, points in 1-D). Nodes are all points of a cell, including those on curved edges.
    """
    if entities not in ENTITIES:
        raise MeshError(f"entities {entities!r} are unknown: use one of {', '.join(ENTITIES)}")
    if entities == "cells":
        identity = sparse.eye_array(mesh.cells, dtype=np.int32, format="csr")
        return Incidence(identity, np.arange(mesh.cells, dtype=np.int64)[:, None])
    tables = [_table(block, entities) for block in mesh.blocks]
    width, first = max(len(corners) for table in tables for corners in table), 0
    cells, found = [], []
    for block, table in zip(mesh.blocks, tables, strict=True):
        count = len(block.nodes)
        padded = np.full((count, len(table), width), ABSENT, dtype=np.int64)
        for place, corners in enumerate(table):
            padded[:, place, : len(corners)] = _distinct(block.nodes[:, corners])
        rows = padded.reshape(-1, width)
        whole = rows[:, {"nodes": 1, "edges": 2}.get(entities, block.shape.dimension) - 1] != ABSENT  # not degenerate
        cells.append(np.repeat(np.arange(first, first + count), len(table))[whole])
        found.append(rows[whole])
        first += count
    ids, keys = _number(np.concatenate(found), len(mesh.points))
    ones = np.ones(len(ids), dtype=np.int32)
    return Incidence(sparse.csr_array((ones, (np.concatenate(cells), ids)), shape=(mesh.cells, len(keys))), keys)


def _table(block: Block, entities: str) -> tuple[tuple[int, ...], ...]:
    if entities == "nodes":
        return tuple((i,) for i in range(block.nodes.shape[1]))
    return block.shape.facets if entities == "faces" else block.shape.edges


def _distinct(nodes: np.ndarray) -> np.ndarray:
    """Sort rows; replace repeated points by -1 at the end.

    Cells with coinciding corners are common (a wedge written as a hexahedron); their remaining faces must match those of neighbors.
    """
    rows = np.sort(nodes, axis=1)
    repeated = rows[:, 1:] == rows[:, :-1]
    if not repeated.any():
        return rows
    last = np.iinfo(np.int64).max
    rows[:, 1:][repeated] = last
    rows.sort(axis=1)
    rows[rows == last] = ABSENT
    return rows


def _number(rows: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct rows in lexicographic order, column by column so that 64 bits suffice."""
    combined = rows[:, 0]
    for place, column in enumerate(rows.T[1:]):
        ids = np.unique(combined, return_inverse=True)[1] if place else combined
        combined = ids * (points + 1) + (column + 1)
    _, first, ids = np.unique(combined, return_index=True, return_inverse=True)
    return ids, rows[first]

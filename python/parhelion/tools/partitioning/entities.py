"""From parts of cells to index maps of cells, faces, edges or nodes."""

import numpy as np
from scipy import sparse

from .errors import MeshError
from .maps.maps import IndexMaps
from .meshes.mesh import Mesh
from .meshes.topology import incidence

ADJACENCIES = ("faces", "nodes")
"""What two cells share that are neighbors."""
_PHI = np.uint64(0x9E3779B97F4A7C15)


def index_maps(
    mesh: Mesh, part: np.ndarray, parts: int, entities: str = "cells", adjacency: str = "faces"
) -> IndexMaps:
    """Number `entities` so that each part owns a contiguous block, and find every part's ghosts. Local.

    A cell is owned by its part; a face, edge or node by one of the parts whose cells touch it, shared
    out evenly and always alike (see docs/partition.md). Within a block the order of the mesh file is
    kept. Ghosts of a part are
    - cells: those of other parts that share a face (`adjacency="nodes"`: a node) with a cell of it;
    - faces, edges, nodes: those that a cell of the part touches and another part owns.
    """
    _check_adjacency(adjacency, entities)
    members = _one_hot(part, parts)
    if entities == "cells":
        keys = np.arange(mesh.cells, dtype=np.int64)[:, None]
        return _maps(part, _cell_reach(mesh, members, adjacency), keys, "cells")
    found = incidence(mesh, entities)
    reach = (found.touches.T.tocsr() @ members).tocsr()
    return _maps(_owners(reach), reach, found.keys, entities)


def _check_adjacency(adjacency: str, entities: str) -> None:
    if adjacency not in ADJACENCIES:
        raise MeshError(f"adjacency {adjacency!r} is unknown: use one of {', '.join(ADJACENCIES)}")
    if adjacency != "faces" and entities != "cells":
        raise MeshError(f"adjacency {adjacency!r} has no meaning for {entities}: it is for cells only")


def _one_hot(part: np.ndarray, parts: int) -> sparse.csr_array:
    cells = len(part)
    return sparse.csr_array((np.ones(cells, dtype=np.int32), part, np.arange(cells + 1)), shape=(cells, parts))


def _cell_reach(mesh: Mesh, members: sparse.csr_array, adjacency: str) -> sparse.csr_array:
    """Cells × parts, nonzero where the part has a cell that shares a face or node with the cell."""
    touches = incidence(mesh, adjacency).touches
    seen_by = (touches.T.tocsr() @ members).tocsr()
    # What one part alone sees makes no ghosts: leaving it out keeps the product small.
    border = np.flatnonzero(np.diff(seen_by.indptr) > 1)
    return (touches[:, border] @ seen_by[border]).tocsr()


def _owners(reach: sparse.csr_array) -> np.ndarray:
    """Of the n parts that touch entity e, ascending, the one at place (e·φ mod 2⁶⁴ >> 32) mod n.

    Taking the lowest part would leave the last parts with the fewest entities and the most ghosts;
    a multiplicative hash (Knuth, TAOCP 3, 6.4) shares a border out evenly and needs no messages.
    """
    reach.sort_indices()
    entity = np.arange(reach.shape[0], dtype=np.uint64)
    candidates = np.diff(reach.indptr).astype(np.uint64)
    place = (entity * _PHI >> np.uint64(32)) % candidates
    return reach.indices[reach.indptr[:-1] + place.astype(np.int64)].astype(np.int64)


def _maps(owner: np.ndarray, reach: sparse.csr_array, keys: np.ndarray, entities: str) -> IndexMaps:
    parts = reach.shape[1]
    order = np.argsort(owner, kind="stable")
    renumbered = np.empty(len(owner), dtype=np.int64)
    renumbered[order] = np.arange(len(owner))
    owned = np.bincount(owner, minlength=parts).astype(np.int64)
    return IndexMaps(owned, _ghosts(owner, reach, renumbered), entities, keys[order])


def _ghosts(owner: np.ndarray, reach: sparse.csr_array, renumbered: np.ndarray) -> tuple[np.ndarray, ...]:
    pairs = reach.tocoo()
    foreign = owner[pairs.row] != pairs.col
    reader, index = pairs.col[foreign], renumbered[pairs.row[foreign]]
    order = np.lexsort((index, reader))
    ends = np.cumsum(np.bincount(reader, minlength=reach.shape[1]))
    return tuple(np.split(index[order], ends[:-1]))

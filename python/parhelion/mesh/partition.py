"""Partitioning of meshes: dual graph, parts by METIS, owners and ghosts of cells, faces, edges or nodes."""

import operator
import os
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy import sparse

from ..base.numbers import shortened
from .maps import IndexMaps, describe, imbalance, write_index_maps
from .mesh import Mesh, MeshError, mesh_from_meshio, read_mesh
from .topology import ENTITIES, incidence

ADJACENCIES = ("faces", "nodes")  # entities that neighboring cells share
# In thousandths. METIS's default for k-way, 30, saves few faces and costs a solver time in every step.
ALLOWED_IMBALANCE = 5
MOST_NAME_BYTES = 200
PHI = np.uint64(0x9E3779B97F4A7C15)


def dual_graph(mesh: Mesh) -> sparse.csr_array:
    """Cells × cells, nonzero where two cells share a face. Symmetric; local."""
    touches = incidence(mesh, "faces").touches
    graph = (touches @ touches.T).tocoo()
    off = graph.row != graph.col
    return sparse.csr_array((graph.data[off], (graph.row[off], graph.col[off])), shape=graph.shape)


def partition_cells(graph: sparse.csr_array, parts: int, seed: int = 0) -> np.ndarray:
    """Part (0 … parts-1) of every cell, by METIS; deterministic, without empty parts.

    Takes the smaller cut of METIS's two methods (Karypis & Kumar, SIAM J. Sci. Comput. 20, 1998): direct k-way, mostly better for few parts, and
    recursive bisection, for many. Raises MeshError unless 1 ≤ parts ≤ cells.
    """
    import pymetis

    cells = graph.shape[0]
    try:
        parts = operator.index(parts)
    except TypeError:
        raise MeshError(f"parts is {parts!r}: give a whole number") from None
    if parts < 1:
        raise MeshError(f"{parts} parts: give at least 1")
    if parts > cells:
        raise MeshError(f"{parts} parts of a mesh of {cells} cells would leave parts empty: use at most {cells}")
    index = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index))
    options = pymetis.Options(seed=seed, ufactor=ALLOWED_IMBALANCE)
    tried = [pymetis.part_graph(parts, adjacency, recursive=recursive, options=options) for recursive in (True, False)]
    # Fewer empty parts come first, then the smaller cut.
    best = min(tried, key=lambda found: (-len(set(found.vertex_part)), found.edge_cuts))
    return fill_empty_parts(np.asarray(best.vertex_part, dtype=np.int64), parts)


def fill_empty_parts(part: np.ndarray, parts: int) -> np.ndarray:
    """Move one cell of the largest part into each empty part."""
    part, sizes = part.copy(), np.bincount(part, minlength=parts)
    for empty in np.flatnonzero(sizes == 0):
        donor = int(np.argmax(sizes))
        part[np.flatnonzero(part == donor)[-1]] = empty
        sizes[donor] -= 1
        sizes[empty] += 1
    return part


def edge_cut(graph: sparse.csr_array, part: np.ndarray) -> int:
    """Number of pairs of neighboring cells in different parts."""
    pairs = graph.tocoo()
    return int(np.count_nonzero(part[pairs.row] != part[pairs.col])) // 2


def index_maps(mesh: Mesh, part: np.ndarray, parts: int, entities: str = "cells", adjacency: str = "faces") -> IndexMaps:
    """Number `entities` so that each part owns a contiguous block, and find every part's ghosts. Local.

    A part owns its cells. A deterministic hash assigns a face, edge or node evenly to one of the parts whose cells touch it (docs/partition.md).
    Blocks keep the order of the mesh file. Ghosts of a part are
    - cells: those of other parts that share a face (`adjacency="nodes"`: a node) with a cell of it;
    - faces, edges, nodes: those that a cell of the part touches and another part owns.
    """
    if adjacency not in ADJACENCIES:
        raise MeshError(f"adjacency {adjacency!r} is unknown: use one of {', '.join(ADJACENCIES)}")
    if adjacency != "faces" and entities != "cells":
        raise MeshError(f"adjacency {adjacency!r} has no meaning for {entities}: it is for cells only")
    members = sparse.csr_array((np.ones(len(part), dtype=np.int32), part, np.arange(len(part) + 1)), shape=(len(part), parts))
    found = incidence(mesh, entities)
    if entities == "cells":
        return _maps(part, _cell_reach(mesh, members, adjacency), found.keys, entities)
    reach = (found.touches.T.tocsr() @ members).tocsr()
    return _maps(_owners(reach), reach, found.keys, entities)


def _cell_reach(mesh: Mesh, members: sparse.csr_array, adjacency: str) -> sparse.csr_array:
    """Cells × parts, nonzero where a cell of the part shares a face or node with the cell."""
    touches = incidence(mesh, adjacency).touches
    seen_by = (touches.T.tocsr() @ members).tocsr()
    # Entities of a single part make no ghosts; leaving them out keeps the product small.
    border = np.flatnonzero(np.diff(seen_by.indptr) > 1)
    return (touches[:, border] @ seen_by[border]).tocsr()


def _owners(reach: sparse.csr_array) -> np.ndarray:
    """Owner of entity e: of the n parts that touch it, ascending, the one at (e·φ mod 2⁶⁴ >> 32) mod n.

    With the lowest part as owner, the last parts would have the fewest entities and the most ghosts; a multiplicative hash (Knuth, TAOCP 3, 6.4)
    divides borders evenly without messages.
    """
    reach.sort_indices()
    entity, candidates = np.arange(reach.shape[0], dtype=np.uint64), np.diff(reach.indptr).astype(np.uint64)
    place = (entity * PHI >> np.uint64(32)) % candidates
    return reach.indices[reach.indptr[:-1] + place.astype(np.int64)].astype(np.int64)


def _maps(owner: np.ndarray, reach: sparse.csr_array, keys: np.ndarray, entities: str) -> IndexMaps:
    parts = reach.shape[1]
    order = np.argsort(owner, kind="stable")
    renumbered = np.empty_like(order)
    renumbered[order] = np.arange(len(owner))
    pairs = reach.tocoo()
    foreign = owner[pairs.row] != pairs.col
    reader, index = pairs.col[foreign], renumbered[pairs.row[foreign]]
    ends = np.cumsum(np.bincount(reader, minlength=parts))
    ghosts = np.split(index[np.lexsort((index, reader))], ends[:-1])
    return IndexMaps(np.bincount(owner, minlength=parts).astype(np.int64), tuple(ghosts), entities, keys[order])


def partition_mesh(
    mesh,
    parts: int,
    entities: str | Iterable[str] = "cells",
    out: str | Path = ".",
    *,
    adjacency: str = "faces",
    name: str | None = None,
    seed: int = 0,
) -> dict:
    """Partition `mesh` into `parts` and write the index maps of `entities` into the folder `out`. Local.

    `mesh` is a file that meshio reads, a `meshio.Mesh` or a `Mesh`. Data sets are named NAME-P for cells, NAME-faces-P and so on for others; NAME
    defaults to the file's. Returns a summary for JSON. Raises MeshError or IndexMapError (both ValueError) before it writes anything.

        partition_mesh("casting.msh", 12, entities=["cells", "nodes"], out="maps")
    """
    begun = time.perf_counter()
    kinds = [entities] if isinstance(entities, str) else list(dict.fromkeys(entities))
    unknown = [kind for kind in kinds if kind not in ENTITIES]
    if unknown or not kinds:
        raise MeshError(f"entities {', '.join(map(repr, unknown)) or 'none'}: use one of {', '.join(ENTITIES)}")
    if name is not None:
        _check_name(name)
    mesh = _as_mesh(mesh, name)
    name = mesh.name if name is None else name
    _check_name(name)
    graph = dual_graph(mesh)
    part = partition_cells(graph, parts, seed)
    # `adjacency` affects ghosts of cells only; if cells are written too, other entities ignore it.
    maps = [index_maps(mesh, part, int(parts), kind, "faces" if kind != "cells" and "cells" in kinds else adjacency) for kind in kinds]
    return {
        "schema": "parhelion.partition/1",
        "mesh": {"name": mesh.name, "dimension": mesh.dimension, "points": len(mesh.points), "cell_types": mesh.cell_types, "left_out": mesh.left_out},
        "cells": mesh.cells,
        "parts": int(parts),
        "adjacency": adjacency,
        "edge_cut": edge_cut(graph, part),
        "imbalance": imbalance(np.bincount(part, minlength=parts)),
        "maps": [_write(item, name, out) for item in maps],
        "seconds": time.perf_counter() - begun,
    }


def _check_name(name: str) -> None:
    """Check a name for data sets, which are files or folders in `out`."""
    faults = {
        "is empty": not name,
        "holds a slash or a character that cannot be printed": "/" in name or not name.isprintable(),
        f"begins with '{name[:1]}'": name.startswith((".", "-")),
        f"is longer than {MOST_NAME_BYTES} bytes": len(os.fsencode(name)) > MOST_NAME_BYTES,
    }
    for fault in (fault for fault, found in faults.items() if found):
        raise MeshError(f"the name {shortened(name)} of the data sets {fault}: give another name, such as casting")


def _as_mesh(mesh, name: str | None) -> Mesh:
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, (str, Path)):
        return read_mesh(mesh)
    if not hasattr(mesh, "cells") or not hasattr(mesh, "points"):
        raise MeshError(f"a {type(mesh).__name__} is not a mesh: give a file, a meshio.Mesh or a Mesh")
    return mesh_from_meshio(mesh, name or "mesh")


def _write(maps: IndexMaps, name: str, out: str | Path) -> dict:
    stem = name if maps.entities == "cells" else f"{name}-{maps.entities}"
    return describe(maps) | {"path": str(write_index_maps(maps, Path(out) / f"{stem}-{maps.ranks}"))}

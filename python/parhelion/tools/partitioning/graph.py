"""The dual graph of a mesh, and its partition by METIS."""

import operator

import numpy as np
from scipy import sparse

from .errors import MeshError
from .meshes.mesh import Mesh
from .meshes.topology import incidence

# In thousandths. METIS lets k-way parts differ by 30 unless told: a cost to every step of a solver
# that the few faces saved do not repay.
_ALLOWED_IMBALANCE = 5


def dual_graph(mesh: Mesh) -> sparse.csr_array:
    """Cells × cells, nonzero where two different cells share a face. Symmetric; local."""
    touches = incidence(mesh, "faces").touches
    graph = (touches @ touches.T).tocoo()
    off = graph.row != graph.col
    return sparse.csr_array((graph.data[off], (graph.row[off], graph.col[off])), shape=graph.shape)


def partition_cells(graph: sparse.csr_array, parts: int, seed: int = 0) -> np.ndarray:
    """The part (0 … parts-1) of every cell, by METIS; no part is empty, and equal input gives
    equal output.

    Of METIS's two methods (Karypis & Kumar, SIAM J. Sci. Comput. 20, 1998) the one that cuts less:
    direct k-way, mostly ahead with few parts, or recursive bisection, with many.
    Raises MeshError unless 1 ≤ parts ≤ cells.
    """
    parts = _checked_parts(parts, graph.shape[0])
    return fill_empty_parts(_metis(graph, parts, seed), parts)


def _checked_parts(parts: int, cells: int) -> int:
    try:
        parts = operator.index(parts)
    except TypeError:
        raise MeshError(f"parts is {parts!r}: give a whole number") from None
    if parts < 1:
        raise MeshError(f"{parts} parts: give at least 1")
    if parts > cells:
        raise MeshError(f"{parts} parts of a mesh of {cells} cells would leave parts empty: use at most {cells}")
    return parts


def _metis(graph: sparse.csr_array, parts: int, seed: int) -> np.ndarray:
    """The better of k-way and bisection; one that leaves fewer parts empty is better whatever it cuts."""
    import pymetis

    index = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index))
    tried = []
    for recursive in (True, False):
        options = pymetis.Options(seed=seed, ufactor=_ALLOWED_IMBALANCE)
        result = pymetis.part_graph(parts, adjacency, recursive=recursive, options=options)
        tried.append((parts - len(set(result.vertex_part)), result.edge_cuts, result.vertex_part))
    return np.asarray(min(tried, key=lambda found: found[:2])[2], dtype=np.int64)


def fill_empty_parts(part: np.ndarray, parts: int) -> np.ndarray:
    """`part`, with one cell of the largest part moved into each part that METIS left empty."""
    part = part.copy()
    sizes = np.bincount(part, minlength=parts)
    for empty in np.flatnonzero(sizes == 0):
        donor = int(np.argmax(sizes))
        part[np.flatnonzero(part == donor)[-1]] = empty
        sizes[donor] -= 1
        sizes[empty] += 1
    return part


def edge_cut(graph: sparse.csr_array, part: np.ndarray) -> int:
    """The number of neighboring pairs of cells that lie in different parts."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return int(np.count_nonzero(part[rows] != part[graph.indices])) // 2

"""From global ids of nodes, as partitioned cells list them, to local numbers."""

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..base.together import resolve, together
from ..domain.indexed import IndexedDomain, to_ids
from .index_map import IndexMap

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm
    from numpy.typing import ArrayLike


def localize(
    connectivity: "ArrayLike",
    nodes: "ArrayLike | IndexedDomain | None" = None,
    comm: "Intracomm | None" = None,
) -> tuple[IndexMap, np.ndarray]:
    """The nodes of this rank's cells as a map, and the cells' nodes by their local numbers. Collective.

    Parameters
    ----------
    connectivity: global ids of the nodes of this rank's cells, any shape, such as (cells, 4). −1 is none, as in a table of cells of different
        sizes, and stays −1.
    nodes: global ids of the nodes that this rank owns, or a domain that tells who owns them, whose ghosts stay. None: a node belongs to the lowest
        rank that has it in a cell.
    comm: an mpi4py communicator; MPI.COMM_WORLD by default, or that of the domain.

    Returns the map, in which missing nodes are ghosts, in ascending order of id behind the others, and an array of int32 in the shape of
    `connectivity`. Time and memory grow with a rank's own cells. Raises ValueError or TypeError on every rank for a node that nobody owns.

        nodes, cells = ph.localize(cell_nodes, owned_nodes)
        x = nodes.zeros()
        nodes.forward(x)                # x[cells] has the values of each cell's nodes
    """
    if nodes is None or isinstance(nodes, IndexedDomain):
        owners = nodes
    else:
        owners = IndexedDomain.with_owned_ids(nodes, (), comm)
    made = IndexedDomain.__new__(IndexedDomain)
    made._comm, made._native_comm = resolve(comm) if owners is None else (owners._comm, owners._native_comm)
    flat = together(made._native_comm, lambda: to_ids(np.ravel(connectivity), "connectivity"))
    if owners is None:
        made._native, local = _core.localize_alone(made._native_comm, flat)
    else:
        made._native, local = _core.localize(owners._native, flat)
    return IndexMap(made), local.reshape(np.shape(connectivity))

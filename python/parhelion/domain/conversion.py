"""Conversion from and to the index maps of other libraries, by duck typing: this module imports none of them.

PETSc (petsc4py): star forests `PETSc.SF`, local-to-global mappings `PETSc.LGMap`. DOLFINx: `dolfinx.common.IndexMap`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arguments import integer
from ..base.together import of_all, resolve, together, total, total_before
from .indexed import IndexedDomain, to_ids

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def from_star_forest(forest: Any, comm: "Intracomm | None" = None) -> tuple[IndexedDomain, np.ndarray]:
    """The domain of a star forest, and the places of its leaves. Collective.

    Owned cells are the roots, ghosts the leaves, in the forest's order; the places index its leaf data. `forest.getGraph()` returns the number
    of roots, the places (or None) and pairs of rank and root; `comm` defaults to `forest.comm`. A forward `Exchange` is the forest's
    broadcast, a reverse one its reduction.

        domain, leaves = ph.from_star_forest(sf)
        x = domain.zeros()                     # roots, then leaves
        ph.Exchange(domain, x)()
        leaf_array[leaves] = x.ghosts
    """
    comm, native = resolve(_comm_of(forest, comm))
    roots, leaves, remote = together(native, lambda: _graph(forest))
    sizes = of_all(native, roots)
    first = np.concatenate([[0], np.cumsum(sizes)])
    ghosts = together(native, lambda: _ids_of(remote, sizes, first))
    return IndexedDomain(roots, ghosts, comm, self_ghosts=True), leaves


def to_star_forest(domain: IndexedDomain, forest: Any) -> Any:
    """Set the graph of `forest`, a new star forest on the domain's ranks, from the domain; return `forest`. Collective.

    Roots are the owned cells; leaves are the ghosts, placed after them, so that one array serves as root and leaf data. `forest` has
    `setGraph(roots, places, pairs)`. Raises ValueError unless ranks own contiguous blocks of ids.

        sf = ph.to_star_forest(domain, PETSc.SF().create(domain.comm))
    """
    _, native = resolve(domain.comm)
    together(native, lambda: _need(forest, "setGraph", "a star forest such as petsc4py's PETSc.SF") and _blocks(domain))
    first = of_all(native, domain.first)
    owners = domain.ghost_owners
    pairs = np.stack([owners, domain.ghost_ids - first[owners]], axis=1)
    forest.setGraph(domain.owned, _narrow(np.arange(domain.owned, domain.size)), _narrow(pairs))
    return forest


def from_local_to_global(mapping: Any, owned: int, comm: "Intracomm | None" = None) -> IndexedDomain:
    """The domain with the global ids of `mapping`; this rank owns the first `owned`. Collective.

    `mapping` has `getIndices()`, or is an array of ids. If all ranks own contiguous blocks in rank order, so does the domain.
    """
    comm, native = resolve(_comm_of(mapping, comm))
    ids, count = together(native, lambda: _split(mapping, owned))
    first = total_before(native, count)[0]
    blocks = total(native, not np.array_equal(ids[:count], np.arange(first, first + count)))[0] == 0
    return IndexedDomain(count, ids[count:], comm) if blocks else IndexedDomain.with_owned_ids(ids[:count], ids[count:], comm)


def to_local_to_global(domain: IndexedDomain, mapping: Any) -> Any:
    """Create `mapping`, a new local-to-global mapping, from the domain's local cells; return it. Collective, like its `create`.

        lgmap = ph.to_local_to_global(domain, PETSc.LGMap())
    """
    _need(mapping, "create", "a mapping such as petsc4py's PETSc.LGMap")
    mapping.create(_narrow(domain.global_of(np.arange(domain.size))), comm=domain.comm)
    return mapping


def from_index_map(index_map: Any, comm: "Intracomm | None" = None) -> IndexedDomain:
    """The domain with the blocks, ghosts and local numbering of `index_map`. Collective.

    `index_map` has `size_local`, `local_range`, `ghosts` and `owners` (or `ghost_owners`), as values or methods. Raises ValueError on every
    rank if its owners contradict its blocks.
    """
    comm, native = resolve(_comm_of(index_map, comm))
    count, ids, first, owners = together(native, lambda: _parts(index_map))
    domain = IndexedDomain(count, ids, comm)
    together(native, lambda: _agrees(domain, first, owners))
    return domain


def to_index_map(domain: IndexedDomain, make: Callable[..., Any]) -> Any:
    """Return `make(comm, owned, ghosts, owners)` for the domain. Collective. ValueError unless ranks own contiguous blocks of ids.

        index_map = ph.to_index_map(domain, dolfinx.common.IndexMap)
    """
    comm, native = resolve(domain.comm)
    together(native, lambda: _blocks(domain))
    return make(comm, domain.owned, domain.ghost_ids, domain.ghost_owners)


def _comm_of(other: Any, comm: "Intracomm | None") -> "Intracomm | None":
    return comm if comm is not None else getattr(other, "comm", None)


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Use 32 bits if all numbers fit: petsc4py widens integers only."""
    return numbers.astype(np.int64 if numbers.size and numbers.max() > np.iinfo(np.int32).max else np.int32)


def _need(other: Any, name: str, what: str) -> bool:
    if not hasattr(other, name):
        raise TypeError(f"{type(other).__name__} has no {name}: pass {what}")
    return True


def _value(other: Any, *names: str) -> Any:
    for name in names:
        if hasattr(other, name):
            value = getattr(other, name)
            return value() if callable(value) else value
    raise TypeError(f"{type(other).__name__} has no {names[0]}: pass an index map such as dolfinx.common.IndexMap")


def _graph(forest: Any) -> tuple[int, np.ndarray, np.ndarray]:
    _need(forest, "getGraph", "a star forest such as petsc4py's PETSc.SF")
    roots, places, pairs = forest.getGraph()
    pairs = np.asarray([] if pairs is None else pairs, np.int64).reshape(-1, 2)
    leaves = np.arange(len(pairs)) if places is None else np.asarray(places, np.int64)
    if roots < 0:
        raise ValueError("the star forest has no graph: call its setGraph first")
    if len(leaves) != len(pairs):
        raise ValueError(f"the star forest has {len(leaves)} places for {len(pairs)} leaves")
    return int(roots), leaves, pairs


def _ids_of(remote: np.ndarray, sizes: np.ndarray, first: np.ndarray) -> np.ndarray:
    ranks, roots = remote.T
    if len(ranks) and not (0 <= ranks.min() and ranks.max() < len(sizes)):
        raise ValueError(f"a leaf has its root on rank {ranks.max()}, but there are {len(sizes)} ranks")
    wrong = np.flatnonzero((roots < 0) | (roots >= sizes[ranks]))
    if len(wrong):
        rank, root = remote[wrong[0]]
        raise ValueError(f"leaf {wrong[0]} belongs to root {root} of rank {rank}, which has {sizes[rank]} roots")
    return first[ranks] + roots


def _split(mapping: Any, owned: int) -> tuple[np.ndarray, int]:
    ids = to_ids(mapping.getIndices() if hasattr(mapping, "getIndices") else mapping, "global ids")
    count = integer(owned, "owned", 64)
    if not 0 <= count <= len(ids):
        raise ValueError(f"owned is {count}, but the mapping has {len(ids)} local cells: pass 0 … {len(ids)}")
    return ids, count


def _parts(index_map: Any) -> tuple[int, np.ndarray, int, np.ndarray]:
    count, ids = int(_value(index_map, "size_local")), to_ids(_value(index_map, "ghosts"), "ghosts")
    owners = np.asarray(_value(index_map, "owners", "ghost_owners"))
    if len(owners) != len(ids):
        raise ValueError(f"the index map has {len(ids)} ghosts, but owners of {len(owners)}")
    return count, ids, int(_value(index_map, "local_range")[0]), owners


def _agrees(domain: IndexedDomain, first: int, owners: np.ndarray) -> None:
    if domain.owned and domain.first != first:
        raise ValueError(f"the index map's block begins at {first} and not at {domain.first}: blocks must be in rank order")
    wrong = np.flatnonzero(domain.ghost_owners != owners)
    if len(wrong):
        ghost = wrong[0]
        raise ValueError(f"ghost {domain.ghost_ids[ghost]} belongs to rank {domain.ghost_owners[ghost]} by its block, "
                         f"and to rank {owners[ghost]} by the index map")


def _blocks(domain: IndexedDomain) -> None:
    if domain.first is None:
        raise ValueError("ownership is not by blocks of ids: renumber the cells, or use the local-to-global mapping")

"""Index maps of other libraries, known by what they can do: small stand-ins. `_petsc.py` has the real ones."""

import numpy as np
from _ranks import COMM, main, on_last, refused

import parhelion as ph

RANKS = (1, 2, 4)


class Forest:
    """As petsc4py's SF: a graph that is given and asked for."""

    comm = COMM

    def __init__(self, *graph):
        self.graph = graph or (-1, None, None)

    def getGraph(self):
        return self.graph

    def setGraph(self, roots, places, pairs):
        self.graph = (roots, places, pairs)


class Mapping:
    """As petsc4py's LGMap."""

    def create(self, indices, bsize=None, comm=None):
        self.indices = np.array(indices)

    def getIndices(self):
        return self.indices


class Blocks:
    """As DOLFINx's IndexMap."""

    def __init__(self, comm, size_local, ghosts, owners):
        self.comm, self.size_local, self.ghosts, self.owners = comm, size_local, ghosts, owners
        first = comm.scan(size_local) - size_local
        self.local_range = (first, first + size_local)


def owned_by(rank):
    return (4, 0, 7, 2)[rank % 4]


def example():
    """A domain with blocks; ghosts in no order, one twice."""
    total, first = sum(map(owned_by, range(COMM.size))), sum(map(owned_by, range(COMM.rank)))
    others = [id_ for id_ in range(total) if not first <= id_ < first + owned_by(COMM.rank)]
    ghosts = [*others[::-2], *others[-1:]]
    return ph.IndexedDomain(owned_by(COMM.rank), ghosts, COMM)


def same(a, b):
    assert (a.owned, a.ghosts, a.global_size) == (b.owned, b.ghosts, b.global_size)
    assert np.array_equal(a.ghost_ids, b.ghost_ids) and np.array_equal(a.ghost_owners, b.ghost_owners)
    assert np.array_equal(a.global_of(np.arange(a.size)), b.global_of(np.arange(b.size)))


def filled(domain):
    x = domain.zeros()
    x.owned[:] = domain.global_of(np.arange(domain.owned))
    ph.Exchange(domain, x)()
    assert np.array_equal(x.ghosts, domain.ghost_ids)


def test_a_star_forest_comes_back_as_it_went():
    domain = example()
    forest = ph.to_star_forest(domain, Forest())
    again, leaves = ph.from_star_forest(forest)
    same(domain, again)
    assert np.array_equal(leaves, np.arange(domain.owned, domain.size))
    filled(again)


def test_leaves_may_lie_anywhere_and_have_roots_on_their_own_rank():
    ring = (COMM.rank + 1) % COMM.size
    domain, leaves = ph.from_star_forest(Forest(2, [5, 3, 9], [[ring, 1], [COMM.rank, 0], [ring, 0]]))
    assert list(leaves) == [5, 3, 9] and list(domain.ghost_ids) == [2 * ring + 1, 2 * COMM.rank, 2 * ring]
    filled(domain)
    domain, leaves = ph.from_star_forest(Forest(2, None, [ring, 1]))  # petsc4py may give one row
    assert list(leaves) == [0] and list(domain.ghost_ids) == [2 * ring + 1]


def test_a_local_to_global_mapping_comes_back_as_it_went():
    domain = example()
    mapping = ph.to_local_to_global(domain, Mapping())
    again = ph.from_local_to_global(mapping, domain.owned, COMM)
    same(domain, again)
    assert again.first == domain.first
    last = COMM.size - 1 - COMM.rank  # blocks in the other order, the cells of each backwards
    ids = [2 * last + 1, 2 * last] + ([2 * COMM.rank] if last != COMM.rank else [])
    other = ph.from_local_to_global(ids, 2, COMM)
    assert other.first is None and np.array_equal(other.global_of(np.arange(other.size)), ids)
    filled(other)


def test_an_index_map_comes_back_as_it_went():
    domain = example()
    again = ph.from_index_map(ph.to_index_map(domain, Blocks))
    same(domain, again)
    filled(again)


def test_what_is_no_index_map_is_refused():
    refused(TypeError, ph.from_star_forest, 7, COMM, says="getGraph")
    refused(TypeError, ph.to_star_forest, example(), 7, says="setGraph")
    refused(TypeError, ph.from_index_map, 7, COMM, says="size_local")
    refused(TypeError, ph.from_local_to_global, "ids", 0, COMM, says="")
    refused(ValueError, ph.from_star_forest, Forest(), says="no graph")


def test_wrong_graphs_are_refused_on_every_rank():
    pair = [[COMM.size, 0]]
    refused(ValueError, ph.from_star_forest, Forest(2, None, on_last(pair, [[0, 0]])), says="there are")
    refused(ValueError, ph.from_star_forest, Forest(2, None, on_last([[0, 2]], [[0, 1]])), says="2 roots")
    refused(ValueError, ph.from_star_forest, Forest(2, on_last([1, 2], [1]), [[0, 0]]), says="places")
    refused(ValueError, ph.from_local_to_global, [COMM.rank], on_last(2, 1), COMM, says="owned is 2")
    if COMM.size == 1:
        return
    other = [2 * ((COMM.rank + 1) % COMM.size)]
    refused(ValueError, ph.from_index_map, Blocks(COMM, 2, other, on_last([COMM.rank], [(COMM.rank + 1) % COMM.size])), says="belongs")
    shifted = Blocks(COMM, 2, [], [])
    shifted.local_range = on_last((0, 2), shifted.local_range)
    refused(ValueError, ph.from_index_map, shifted, says="blocks must be in rank order")
    scattered = ph.IndexedDomain.with_owned_ids([COMM.size - 1 - COMM.rank], comm=COMM)
    refused(ValueError, ph.to_star_forest, scattered, Forest(), says="not by blocks")


if __name__ == "__main__":
    main(globals())

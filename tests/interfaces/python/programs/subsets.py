"""Calls of some of an exchange's arrays, of ghosts less deep, and the checked mode."""

import gc
import os

import numpy as np
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 3)
CELLS = 6 * COMM.size


def ring(halo=2):
    """A domain of cells in a ring, and three arrays whose cells know who they are; ghosts are −1."""
    domain = ph.CartesianDomain((CELLS, 4), halo=(halo, 1), periodic=True, process_grid=(COMM.size, 1))
    arrays = [domain.zeros() for _ in range(3)]
    fill(domain, arrays)
    return domain, arrays


def values(number):
    return 1000.0 * number + np.add.outer(10.0 * (np.arange(6) + 6 * COMM.rank), np.arange(4))


def fill(domain, arrays):
    for number, array in enumerate(arrays):
        array[...] = -1
        array.owned[...] = values(number)


def filled(array, number, halo=2):
    """How many ghosts on each side of the first dimension are filled, all of them right."""
    beside = np.asarray(array)[:, 1:-1]
    x = 6 * COMM.rank + np.arange(-halo, 6 + halo)
    right = 1000.0 * number + np.add.outer(10.0 * (x % CELLS), np.arange(4))
    rows = (beside == right).all(axis=1)
    empty = (beside == -1).all(axis=1)
    for depth in range(halo + 1):
        inside = np.arange(len(x)) >= halo - depth
        inside &= np.arange(len(x)) < halo + 6 + depth
        if (rows == inside).all() and (empty == ~inside).all():
            return depth
    return None


def test_a_subset_moves_what_it_names_and_nothing_else():
    domain, (u, v, w) = ring()
    for transport in [None] + [t.name for t in ph.transports() if t.reach == "anywhere" and not t.unavailable]:
        exchange = ph.Exchange(domain, u, v, w, transport=transport)
        for _ in range(2):
            fill(domain, (u, v, w))
            exchange.only(fields=[2, 0], depth=1)()
            assert [filled(a, n) for n, a in enumerate((u, v, w))] == [1, 0, 1]
            exchange.only(fields=[1]).begin().end()
            assert [filled(a, n) for n, a in enumerate((u, v, w))] == [1, 2, 1]
            exchange.only(depth=((1, 2), 0))()
            assert filled(v, 1) == 2
            exchange()
            assert [filled(a, n) for n, a in enumerate((u, v, w))] == [2, 2, 2]
        assert exchange.only([1]).transport == exchange.transport


def test_sides_and_faces():
    domain, (u, v, w) = ring()
    exchange = ph.Exchange(domain, u, v, w)
    exchange()
    whole = np.array(u)
    for transport in [None] + [t.name for t in ph.transports() if t.reach == "anywhere" and not t.unavailable]:
        exchange = ph.Exchange(domain, u, v, w, transport=transport)
        fill(domain, (u, v, w))
        exchange.only(depth=((1, 0), 0))()
        assert (np.asarray(u)[1, 1:-1] == whole[1, 1:-1]).all() and (np.asarray(u)[[0, -2, -1]] == -1).all()
        exchange.only(neighbors="faces")()
        assert (np.asarray(u)[:, 1:-1] == whole[:, 1:-1]).all() and (np.asarray(u)[2:-2] == whole[2:-2]).all()
        assert (np.asarray(u)[:2, [0, -1]] == -1).all()
        exchange.only(depth=1).only(neighbors="faces", depth=((0, 1), 0))()
        assert exchange.only(neighbors="faces") is exchange.only(neighbors="faces")
    refused(ValueError, exchange.only, neighbors="corners", says="neighbors")
    points = ph.Exchange(domain, domain.zeros(stagger=(1, 0)))
    refused(ValueError, points.only, neighbors="faces", says="lives on points")


def test_arrays_at_the_call_of_a_subset():
    domain, (u, v, w) = ring()
    exchange = ph.Exchange(domain, u, v, w)
    thin = exchange.only(fields=[2, 0], depth=1)
    others = [domain.zeros() for _ in range(3)]
    fill(domain, others)
    thin(others[2], others[0])
    assert [filled(a, n) for n, a in enumerate(others)] == [1, 0, 1]
    assert [filled(a, n) for n, a in enumerate((u, v, w))] == [0, 0, 0]
    refused(ValueError, thin, others[2], says="1 arrays were passed")
    refused(ValueError, thin, others[2], np.zeros((3, 3)), says="shape")
    step = exchange.only(fields=[1]).begin(domain.zeros() + 7)
    gc.collect()
    thin(others[2], others[0])
    step.end()


def test_reverse_and_begin_of_subsets():
    domain = ph.CartesianDomain((8 * COMM.size,), halo=2, periodic=True)
    u, v = domain.zeros() + 1, domain.zeros() + 1
    exchange = ph.Exchange(domain, u, v)
    exchange.only(fields=[1], depth=1).reverse("sum")
    assert np.asarray(u).sum() == 12
    assert np.asarray(v.owned).sum() == 8 + 2
    u.owned[...] = 5
    exchange.only([0]).begin().end()
    assert (np.asarray(u) == 5).all()


def test_subsets_of_split_components_and_of_groups():
    domain, (u, v, _) = ring()
    vectors = np.zeros((3, *u.shape))
    crossed = np.moveaxis(vectors, 0, 2)  # components far apart
    cells = ph.IndexedDomain(2, [(2 * COMM.rank + 2) % (2 * COMM.size)] if COMM.size > 1 else [])
    x = np.zeros(2 + (COMM.size > 1))
    x[:2] = COMM.rank
    exchange = ph.Exchange([(domain, u, crossed, v), (cells, x)])
    exchange.only([3])()
    assert COMM.size == 1 or x[2] == (COMM.rank + 1) % COMM.size
    assert filled(v, 1) == 0
    crossed[...] = -1
    for component in range(3):
        crossed[2:-2, 1:-1, component] = values(component)
    exchange.only([1, 2], depth=(1, 0))(crossed, v)
    assert [filled(vectors[c], c) for c in range(3)] == [1, 1, 1]
    assert filled(v, 1) == 1
    assert filled(u, 0) == 0
    refused(ValueError, exchange.only, [3], depth=1, says="have no depth")


def test_equal_subsets_are_one_exchange_and_outlive_the_whole():
    domain, (u, v, w) = ring()
    exchange = ph.Exchange(domain, u, v, w)
    thin = exchange.only([1], depth=1)
    assert exchange.only((1,), depth=1) is thin
    assert len(thin.arrays) == 1
    assert thin.arrays[0] is v
    thin.prepare()
    assert thin.bytes_sent() < exchange.bytes_sent() or COMM.size == 1
    assert "field 1 to a depth of 1" in thin.explain()
    assert thin.only(depth=0).bytes_sent() == 0
    del exchange
    gc.collect()
    thin()
    assert filled(v, 1) == 1


def test_subsets_that_there_are_not_are_refused():
    domain, arrays = ring()
    exchange = ph.Exchange(domain, *arrays)
    refused(ValueError, exchange.only, [3], says="no array 3")
    refused(ValueError, exchange.only, [0, 0], says="named twice")
    refused(ValueError, exchange.only, [], says="no array is named")
    refused(TypeError, exchange.only, ["u"], says="not the number")
    refused(ValueError, exchange.only, depth=3, says="a depth of 3 in dimension 0, where the widest halo of these fields is 2")
    refused(ValueError, exchange.only, depth=-1, says="a depth of -1")
    refused(ValueError, exchange.only, depth=(1, 1, 1), says="3")


def test_ranks_that_use_other_subsets_first_are_told():
    domain, arrays = ring()
    exchange = ph.Exchange(domain, *arrays)
    if COMM.size > 1:
        refused(ValueError, exchange.only([min(COMM.rank, 1)]), says="the subsets of the exchange differ")
    exchange.only([2])()
    assert filled(arrays[2], 2) == 2


def test_checked_mode_tells_who_asked_for_what():
    domain, (u, v, w) = ring()
    for by_environment in (False, True):
        if by_environment:
            os.environ["PARHELION_CHECK"] = "1"
        exchange = ph.Exchange(domain, u, v, w, timeout=60, check=not by_environment)
        os.environ.pop("PARHELION_CHECK", None)
        exchange()
        exchange.only([1])()
        with exchange.begin():
            pass
        exchange.reverse("replace")
        if COMM.size > 1:
            call = exchange if COMM.rank == 0 else exchange.only([1])
            refused(ph.CommunicationError, call, says="field 1 to a depth of 2 × 1")
        COMM.Barrier()


if __name__ == "__main__":
    main(globals())

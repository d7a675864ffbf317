"""Arrays that are named at the call: swapped, of one call only, on each rank others, of another layout."""

import gc

import numpy as np
from _oracle import grid_sample
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 3)


def samples(domain, count):
    return [grid_sample(domain, 0, domain.halo, np.dtype("float64"), field=0) for _ in range(count)]


def usable():
    return [t.name if t.reach == "anywhere" else f"{t.name}+mpi" for t in ph.transports() if not t.unavailable and t.reach != "rank"]


def test_each_rank_names_what_it_likes_over_every_transport():
    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    for transport in usable():
        if transport.startswith(("shared", "xpmem")):
            continue
        levels = samples(domain, 3)
        exchange = ph.Exchange(domain, levels[0].view, transport=transport)
        for turn in range(6):
            chosen = levels[(turn + COMM.rank) % 3] if turn < 4 else samples(domain, 1)[0]
            if turn % 2:
                exchange.begin(chosen.view).end()
            else:
                exchange(chosen.view)
            chosen.check(f"{transport}, turn {turn}")


def test_node_shared_arrays_and_private_ones_take_turns():
    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    u, v, expected = domain.zeros(), domain.zeros(), samples(domain, 1)[0]
    exchange = ph.Exchange(domain, u, transport="shared+mpi")
    private = np.zeros(u.shape)
    start = np.array(expected.view)
    exchange(expected.view)
    expected.check("private")
    for turn in range(8):
        array = (u, v, private, domain.zeros())[(turn + COMM.rank) % 4]
        array[...] = start
        exchange(array)
        np.testing.assert_array_equal(np.asarray(array), np.asarray(expected.view))


def test_time_levels_are_swapped_by_swapping_names():
    domain = ph.CartesianDomain((16,), halo=1, periodic=True)
    u, v = domain.zeros(), domain.zeros()
    exchange = ph.Exchange(domain, u)
    for step in range(5):
        v.owned[...] = step
        exchange(v)
        assert (np.asarray(v) == step).all()
        u, v = v, u


def test_reverse_and_pairs_take_arrays():
    domain = ph.CartesianDomain((12 * COMM.size,), halo=1, periodic=True)
    exchange = ph.Exchange(domain, domain.zeros())
    ones = domain.zeros() + 1
    exchange.reverse("sum", ones)
    assert ones.sum() == 14 + 2
    again = domain.zeros() + 1
    step = exchange.begin_reverse("sum", again)
    while not step.test():
        pass
    step.end()
    assert step.test()
    np.testing.assert_array_equal(np.asarray(again), np.asarray(ones))
    fresh = domain.zeros()
    fresh.owned[...] = 3
    exchange.begin(fresh).end()
    assert (np.asarray(fresh) == 3).all()
    cells = ph.IndexedDomain(4, [(4 * COMM.rank + 4) % (4 * COMM.size)] if COMM.size > 1 else [])
    ghosts = 1 if COMM.size > 1 else 0
    indexed = ph.Exchange(cells, (np.zeros(4), np.zeros(ghosts)))
    owned, read = np.arange(4.0) + 4 * COMM.rank, np.zeros(ghosts)
    indexed((owned, read))
    assert list(read) == [(4.0 * COMM.rank + 4) % (4 * COMM.size)][:ghosts]
    joined = ph.Exchange(cells, np.zeros(4 + ghosts))
    values = np.append(owned, np.zeros(ghosts))
    joined(values)
    assert list(values[4:]) == list(read)
    refused(ValueError, joined, (owned, read), says="2 parts")


def test_arrays_of_another_layout_are_refused_with_what_differs():
    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    sample = samples(domain, 1)[0]
    shape = sample.view.shape
    exchange = ph.Exchange(domain, np.zeros(shape), np.zeros((*shape, 2)))
    good = np.zeros((*shape, 2))
    refused(ValueError, exchange, np.zeros(shape, "f4"), good, says="elements of type 'f'")
    refused(ValueError, exchange, np.zeros((3, 3)), good, says="shape (3, 3)")
    refused(ValueError, exchange, np.zeros(shape), np.zeros((2, *shape)).transpose(1, 2, 0), says="strides")
    refused(ValueError, exchange, good, says="1 arrays were passed")
    read_only = np.zeros(shape)
    read_only.flags.writeable = False
    refused(ValueError, exchange, read_only, good, says="read-only")
    refused(TypeError, exchange, "no array", good, says="pass a NumPy array")
    exchange(sample.view, good)
    sample.check("after refusals")


def test_arrays_live_as_long_as_the_step_that_was_begun_with_them():
    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    exchange = ph.Exchange(domain, domain.zeros())
    step = exchange.begin(domain.zeros() + 1)
    gc.collect()
    step.end()
    times = np.zeros(domain.zeros().shape, "datetime64[s]")
    dated = ph.Exchange(domain, times)
    other = times.copy()
    other[1:-1, 1:-1] = np.datetime64("2000-01-01")
    dated(other)
    assert (other == np.datetime64("2000-01-01")).all()


if __name__ == "__main__":
    main(globals())

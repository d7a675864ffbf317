"""Reductions in Python: what may happen while one runs, and who learns of what it raises."""

import gc
import os
import pickle
import time
import weakref
from functools import partial

import numpy as np
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 3)


def make(transport=None, **options):
    domain = ph.CartesianDomain((4 * COMM.size, 3), halo=1, periodic=True, process_grid=(COMM.size, 1))
    u = domain.full(1.0)
    return u, ph.Exchange(domain, u, transport=transport, **options)


def summed(u):
    """Corners of a block of 4 × 3 cells are ghosts of eight other places, edges of two or three."""
    assert (u.owned[1:-1, 1] == 1).all() and (u.owned[0] > 1).all() and (u.owned[-1] > 1).all()


def with_progress(work):
    os.environ["PARHELION_PROGRESS"] = "1"
    try:
        return work()
    finally:
        del os.environ["PARHELION_PROGRESS"]


def test_exchanges_are_dropped_while_a_thread_combines():
    idle = [with_progress(make)[1] for _ in range(5)]
    u, exchange = with_progress(make)
    slow = ph.Reduction(lambda a, b: (time.sleep(0.002), a + b)[1], "f8")
    while idle:
        u[...] = 1
        with exchange.begin_reverse(slow):
            time.sleep(0.01)
            idle.pop()
        summed(u)


def test_exchanges_are_collected_while_a_reduction_runs():
    for progress in (False, True):
        u, exchange = with_progress(make) if progress else make()

        def collecting(a, b):
            for _ in range(3):
                _, other = make_alone()
                other.itself = other  # a cycle, for the collector
                del other
            gc.collect()
            return a + b

        with exchange.begin_reverse(ph.Reduction(collecting, "f8")):
            time.sleep(0.02)
        summed(u)


def make_alone():
    domain = ph.CartesianDomain((4, 3), halo=1, periodic=True, comm=ALONE)
    u = domain.full(1.0)
    return u, ph.Exchange(domain, u, transport="shared")


def test_a_reduction_that_uses_its_own_exchange_is_told_so():
    u, exchange = make()
    steps = []

    def end_step():
        steps[0].end()

    def test_step():
        return steps[0].test()

    for mistake in (test_step, end_step, exchange.begin, exchange, exchange.end):
        steps[:] = [exchange.begin_reverse(calling(mistake))]
        refused(ValueError, steps[0].end, says="uses the exchange that calls it")
        refused(ValueError, exchange.reverse, calling(exchange), says="uses the exchange that calls it")
    u[...] = 1
    exchange.reverse("sum")
    summed(u)


def test_a_thread_that_combines_may_not_use_the_exchange_either():
    u, exchange = with_progress(make)
    for mistake in (exchange.begin, exchange, exchange.end):
        step = exchange.begin_reverse(calling(mistake))
        time.sleep(0.02)
        refused(ValueError, step.end)
    u[...] = 1
    exchange.reverse("sum")
    summed(u)


def calling(mistake):
    def reduction(a, b):
        mistake()
        return a + b

    return ph.Reduction(reduction, "f8")


def test_a_reduction_may_use_another_exchange():
    v, other = make_alone()
    u, exchange = make()

    def nested(a, b):
        v[...] = 1
        other.reverse("sum")
        return a + b

    with exchange.begin_reverse(ph.Reduction(nested, "f8")):
        pass
    summed(u)
    summed(v)


def test_what_one_exchange_raised_is_not_raised_by_another():
    u, exchange = make()
    v, other = make()
    fails = []

    def careful(a, b):
        if fails:
            raise KeyError(fails.pop())
        return a + b

    shared = ph.Reduction(careful, "f8")
    first, second = exchange.begin_reverse(shared), other.begin_reverse(shared)
    fails.append("once")
    while not first.test():  # which combines
        pass
    second.end()  # which combines, too, though the reduction has raised elsewhere
    summed(v)
    refused(KeyError, first.end, says="once")
    u[...] = 1
    exchange.reverse(shared)
    summed(u)


def test_a_reduction_returns_a_row():
    u, exchange = make()
    refused(ValueError, exchange.reverse, ph.Reduction(lambda a, b: a[0], "f8"), says="returned shape ()")
    u[...] = 1
    exchange.reverse(ph.Reduction(lambda a, b: (a + b).tolist(), "f8"))
    summed(u)


def test_what_a_row_does_not_hold_is_refused():
    _, exchange = make()
    refused(TypeError, exchange.reverse, ph.Reduction(lambda a, b: a + b + 0j, "f8"), says="returned complex128")


def test_a_reduction_is_pickled():
    again = pickle.loads(pickle.dumps(ph.Reduction(np.add, "f8")))
    u, exchange = make()
    exchange.reverse(again)
    summed(u)


def test_what_belongs_to_ranks_is_not_pickled():
    u, exchange = make()
    domain = u.domain
    of_ids = ph.IndexedDomain(2, [])
    for each in (exchange, ph.PointSums(domain, domain.zeros(stagger=1)), ph.Redistribution(domain, domain), domain, of_ids, ph.build_pattern(domain)):
        refused(TypeError, pickle.dumps, each, says="cannot be pickled: it belongs to its ranks")
    with exchange.begin() as step:
        refused(TypeError, pickle.dumps, step, says="Step cannot be pickled: it belongs to its ranks")


def twice(shape=3):
    """Points that a rank has at both ends of a dimension, and shares with the ranks beside it."""
    domain = ph.CartesianDomain((2 * COMM.size, shape), halo=1, periodic=True, process_grid=(COMM.size, 1))
    return domain, domain.zeros(stagger=1)


def fails_on_rank_0(a, b):
    if COMM.rank == 0:
        raise KeyError("not here")
    return a + b


def neighbors_are_told(call):
    """Of rank 0's error; that rank gets its own, ranks that are no neighbors none."""
    try:
        call(ph.Reduction(fails_on_rank_0, "f8"))
    except KeyError:
        assert COMM.rank == 0
    except ValueError as error:
        assert COMM.rank in (1, COMM.size - 1) and "failed on rank 0" in str(error)
    else:
        assert COMM.rank not in (0, 1, COMM.size - 1)


def test_holders_of_points_that_a_rank_could_not_add_up_are_told():
    domain, mass = twice()
    sums = ph.PointSums(domain, mass)

    def in_two_halves(reduction):
        with sums.begin(reduction):
            pass

    for call in (sums.reduce, in_two_halves):
        mass.held[...] = 1
        neighbors_are_told(call)
    mass.held[...] = 1
    sums()
    assert (mass.held[:, 0] == [4, 2, 4]).all()


def test_a_rank_is_told_of_its_own_reduction_first():
    def fails(a, b):
        raise KeyError("on every rank")

    domain, mass = twice()
    refused(KeyError, ph.PointSums(domain, mass).reduce, ph.Reduction(fails, "f8"), says="on every rank")


def passes_on(u, exchange, call):
    """Dimension by dimension: rank 0 combines its own images, then its neighbors get them."""
    u[...] = 1
    neighbors_are_told(call)
    for reduction in ("sum", ph.Reduction(np.add, "f8")):
        u[...] = 1
        exchange.reverse(reduction)
        assert (u.owned[:, 0] == [4, 2, 2, 4]).all() and (u.owned[:, 1] == [2, 1, 1, 2]).all()


def test_ranks_to_which_goes_what_another_could_not_combine_are_told():
    domain = ph.CartesianDomain((4 * COMM.size, 3), halo=1, periodic=True, process_grid=(COMM.size, 1), algorithm="by_dimension")
    u = domain.full(1.0)
    for transport in ("mpi", "staged_shared", "shared", None):
        exchange = ph.Exchange(domain, u, transport=transport)
        passes_on(u, exchange, exchange.reverse)
        exchange = with_progress(partial(ph.Exchange, domain, u, transport=transport))

        def in_two_halves(reduction, used=exchange):
            with used.begin_reverse(reduction):
                pass

        passes_on(u, exchange, in_two_halves)


def test_sums_over_a_seam_that_fail_on_one_rank_fail_on_all():
    domain = ph.CartesianDomain((4 * COMM.size, 4), halo=1, periodic=(True, False), process_grid=(COMM.size, 1), seams=[ph.fold()])
    mass = domain.full(1.0, stagger=1)
    sums = ph.PointSums(domain, mass)

    def in_two_halves(reduction):
        with sums.begin(reduction) as step:
            step.test()

    for call in (sums.reduce, in_two_halves):
        told = None
        try:
            call(ph.Reduction(fails_on_rank_0, "f8"))
        except (KeyError, ValueError) as error:
            told = error
        assert isinstance(told, KeyError) if COMM.rank == 0 else "rank 0: the reduction failed" in str(told), told
    mass.held[...] = 1
    sums()


def test_sums_keep_what_was_in_a_list_until_they_end():
    domain = ph.CartesianDomain((4 * COMM.size, 6), halo=1, periodic=True, process_grid=(COMM.size, 1), blocks_per_rank=(2, 1))
    made = domain.zeros(stagger=1)
    sums, exchange = ph.PointSums(domain, made), ph.Exchange(domain, domain.zeros())
    made.clear()
    sums()  # those of the construction
    blocks = domain.full(1.0, stagger=1)
    alive = [weakref.ref(block.base if block.base is not None else block) for block in blocks]
    step = sums.begin("sum", blocks)
    blocks.clear()
    gc.collect()
    assert all(each() is not None for each in alive), "a block is freed while values travel to it"
    step.end()
    blocks = domain.full(1.0)
    alive = [weakref.ref(block) for block in blocks]
    step = exchange.begin(blocks)
    blocks.clear()
    gc.collect()
    assert all(each() is not None for each in alive)
    step.end()


def test_a_step_of_sums_is_as_any_other():
    domain, mass = twice()
    sums = ph.PointSums(domain, mass)
    nodes = ph.IndexMap.pull(2, [(2 * COMM.rank + 2) % (2 * COMM.size)] if COMM.size > 1 else [])
    x = np.ones(nodes.size)
    for begin in (lambda: sums.begin("sum"), lambda: nodes.begin_reduce_shared("sum", x)):
        with begin() as step:
            while not step.test():
                pass
            step.end()  # and not once more
        assert step.ended
        refused(ValueError, step.end, says="end a step once")
        try:
            with begin() as step:
                raise KeyError
        except KeyError:
            assert step.ended
    assert not sums.under_way


def test_sums_that_are_dropped_under_way_harm_nobody():
    domain, mass = twice()
    sums = ph.PointSums(domain, mass)
    nodes = ph.IndexMap.pull(2, [(2 * COMM.rank + 2) % (2 * COMM.size)] if COMM.size > 1 else [])
    x = np.ones(nodes.size)
    alive = weakref.ref(mass), weakref.ref(x)
    nodes.begin_reduce_shared("sum", x)
    sums.begin()
    del sums, mass, x, nodes
    gc.collect()
    if COMM.rank == 0:
        assert alive[1]() is not None, "messages under way still use the array"
    COMM.barrier()
    domain, mass = twice()
    mass.held[...] = 1
    ph.PointSums(domain, mass)()
    assert (mass.held[0] == [4, 2, 2, 4]).all()


ALONE = COMM.Split(COMM.rank)

if __name__ == "__main__":
    main(globals())

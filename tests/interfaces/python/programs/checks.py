"""Mistakes that were silent, or hung, and what is told of them."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
from _ranks import COMM, main, refused, usable_transports

import parhelion as ph

RANKS = (1, 2, 3)
LAST = COMM.size - 1


def ring(**options):
    """A ring of 6 cells a rank that know their rank, and an exchange of them."""
    domain = ph.CartesianDomain((6 * COMM.size,), halo=1, periodic=True)
    u = domain.zeros()
    u.owned[...] = 10.0 * COMM.rank + np.arange(6)
    return u, ph.Exchange(domain, u, timeout=60, **options)


def told(call, *args, **kwargs):
    """What a mistake of this rank alone raises, as text; nothing where it passes."""
    try:
        call(*args, **kwargs)
    except ph.Error as error:
        return str(error)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


def test_ghosts_cannot_be_read_before_the_end():
    for transport in usable_transports():
        for check in (False, True):
            u, exchange = ring(transport=transport, check=check)
            u[0] = u[-1] = -1
            if COMM.rank > 0:
                COMM.Barrier()  # rank 0 begins alone
            step = exchange.begin()
            if COMM.rank == 0:
                seen = float(u[0])
                if COMM.size > 1:
                    assert np.isnan(seen) if check else seen == -1, (transport, seen)
                COMM.Barrier()
            step.end()
            assert u[0] == 10.0 * ((COMM.rank - 1) % COMM.size) + 5


def test_integers_are_poisoned_too():
    domain = ph.CartesianDomain((6 * COMM.size,), halo=1, periodic=True)
    u = domain.zeros(dtype="int32")
    exchange = ph.Exchange(domain, u, check=True, transport="mpi")
    if COMM.rank > 0:
        COMM.Barrier()
    step = exchange.begin()
    if COMM.rank == 0:
        assert COMM.size == 1 or np.uint32(np.int64(u[0]) % 2**32) == 0xDBDBDBDB
        COMM.Barrier()
    step.end()
    assert u[0] == 0


def test_owned_cells_that_are_written_too_early_are_told():
    u, exchange = ring(check=True)
    step = exchange.begin()
    u.owned[2] = 7  # nobody reads it
    step.end()
    step = exchange.begin()
    if COMM.rank == LAST:
        u.owned[5] = 0.5
    text = told(step.end)
    expected = f"field 0: owned cell ({6 * COMM.size - 1}) of rank {LAST}, which rank 0 reads, was written between begin and end"
    assert text.startswith(expected) if COMM.rank == LAST else text == "", text
    COMM.Barrier()
    exchange()
    assert COMM.rank > 0 or u[0] == 0.5
    u, exchange = ring()
    with exchange.begin():
        u.owned[5] = 0.5  # unchecked


def test_ghosts_that_are_written_in_a_reverse_exchange_are_told():
    u, exchange = ring(check=True)
    exchange()
    step = exchange.begin_reverse("replace")
    if COMM.rank == 0:
        u[0] = 99
    text = told(step.end)
    assert ("the ghost of cell" in text) == (COMM.rank == 0), text


def test_the_environment_turns_checks_on():
    os.environ["PARHELION_CHECK"] = "1"
    u, exchange = ring()
    os.environ.pop("PARHELION_CHECK")
    step = exchange.begin()
    u.owned[0] += 1
    assert "was written between begin and end" in told(step.end)


def test_stale_ghosts():
    u, exchange = ring()
    exchange()
    assert not exchange.stale()
    exchange.check()
    v = u.copy()
    if COMM.rank == LAST:
        v.owned[5] = 0.25
    found = exchange.stale(v)
    reads = COMM.rank == (LAST + 1) % COMM.size
    assert bool(found) is reads and found.counts == (int(reads),)
    if reads:
        (ghost,) = found.first
        assert (ghost.array, ghost.owner, ghost.cell, ghost.there) == (0, LAST, (6 * COMM.size - 1,), "0.25")
        assert "the ghost of cell" in str(found)
    refused(ValueError, exchange.check, v, says="0.25 on its owner (1 values of ghosts differ on this rank)")
    exchange.check()
    before = np.array(v)
    exchange.stale(v)
    assert np.array_equal(before, v)


def test_values_of_a_field_that_changes_sign_are_those_of_the_arrays():
    domain = ph.CartesianDomain((2 * COMM.size, 4), 1, (True, False), seams=[ph.fold()])
    for dtype, of, no in (("float64", "5", "7"), ("int32", "5", "7"), ("complex64", "(5, 0)", "(7, 0)")):
        u = domain.zeros(dtype)
        exchange = ph.Exchange(domain, ph.Field(u, sign=-1), check=True, timeout=60)
        u.owned[...] = 5
        exchange()
        reads = domain.owned[1].stop == 4
        if reads:
            u[1, -1] = 7
        told_of = [(ghost.here.replace("-0", "0"), ghost.there.replace("-0", "0")) for ghost in exchange.stale().first]
        assert told_of == [(no, of)] * reads, told_of
        exchange()
        step = exchange.begin_reverse("replace")
        u[1, -1] = 7
        text = told(step.end)
        assert f"{no} at end" in text or not reads, text


def test_stale_ghosts_of_several_arrays_that_travel_as_components():
    domain = ph.CartesianDomain((6 * COMM.size,), halo=1, periodic=True)
    whole = np.zeros((8, 3, 5))
    u, v = whole[:, ::2, :3], domain.zeros()
    exchange = ph.Exchange(domain, ph.Field(u, halo=1), v)
    exchange()
    v[0] = 3
    u[0] = 4
    found = exchange.stale()
    assert found.counts == (6, 1) and {ghost.array for ghost in found.first} == {0, 1}


def test_different_set_up_calls_are_told_at_once():
    if COMM.size == 1:
        return
    domain = ph.CartesianDomain((12,), halo=1)
    u = domain.zeros()
    call = (lambda: ph.Exchange(domain, u)) if COMM.rank == 0 else (lambda: ph.CartesianDomain((13,), halo=1))
    refused(ph.CommunicationError, call, says="rank 0 is in Exchange and rank 1 in CartesianDomain")
    call = (lambda: ph.IndexMap.pull(3)) if COMM.rank == 0 else (lambda: ph.CartesianDomain((13,), halo=1))
    refused(ph.CommunicationError, call, says="rank 1 in CartesianDomain")
    ph.Exchange(domain, u)()


def test_a_call_that_a_rank_leaves_out_ends_with_who_is_where():
    if COMM.size == 1:
        return
    os.environ["PARHELION_TIMEOUT"] = "0.5"
    for make in (
        lambda comm: ph.CartesianDomain((12,), halo=1, comm=comm),
        lambda comm: ph.IndexMap.pull(3, comm=comm),
        lambda comm: ph.IndexedDomain(3, comm=comm),
    ):
        comm = COMM.Dup()
        ph.CartesianDomain((12,), halo=1, comm=comm)
        text = "" if COMM.rank == LAST else told(make, comm)
        COMM.Barrier()
        assert COMM.rank == LAST or (f"rank {LAST} has not called" in text and "(its call " in text), text
    comm = COMM.Dup()
    text = "" if COMM.rank == LAST else told(ph.CartesianDomain, (12,), halo=1, comm=comm)
    os.environ.pop("PARHELION_TIMEOUT")
    COMM.Barrier()
    assert COMM.rank == LAST or ("in the first call of this library" in text and f"rank {LAST} has not called" in text), text


def stands_still(module, name, after=False):
    """Replaces a function of a module by one that lasts longer than the time limit before, or after, it does its work."""
    function = getattr(module, name)

    def slow(*args, **kwargs):
        setattr(module, name, function)
        found = function(*args, **kwargs) if after else None
        time.sleep(2.5)
        return found if after else function(*args, **kwargs)

    setattr(module, name, slow)


def test_numbers_of_all_ranks_are_gathered_within_the_time_limit():
    if COMM.size == 1:
        return
    from parhelion.domain import conversion

    class Forest:
        def getGraph(self):
            return 3, None, []

    comm = COMM.Dup()
    ph.from_star_forest(Forest(), comm)
    os.environ["PARHELION_TIMEOUT"] = "0.5"
    if COMM.rank == LAST:
        stands_still(conversion, "together", after=True)
    text = told(ph.from_star_forest, Forest(), comm)
    os.environ.pop("PARHELION_TIMEOUT")
    COMM.Barrier()
    assert COMM.rank == LAST or f"rank {LAST}" in text, text


def test_the_limit_of_an_exchange_is_that_of_its_set_up():
    if COMM.size == 1:
        return
    comm = COMM.Dup()
    domain = ph.CartesianDomain((12,), halo=1, comm=comm)
    text = "" if COMM.rank == LAST else told(ph.Exchange, domain, domain.zeros(), timeout=0.5)
    COMM.Barrier()
    assert COMM.rank == LAST or f"rank {LAST} has not called" in text, text


def test_the_limit_holds_in_each_part_of_set_up():
    """Rank 1 leaves each call, or does not make it; rank 0 waits in all of them at once, on a communicator each."""
    from mpi4py import MPI

    from parhelion.exchange import exchange

    if COMM.size != 2 or MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    line, points, grid = (ph.CartesianDomain((12,), halo=1, comm=COMM.Dup()) for _ in range(3))
    cells = ph.IndexedDomain(3, comm=COMM.Dup())
    move = ph.Redistribution(grid, grid, timeout=0.5)
    calls = {
        "split_components": lambda: ph.Exchange(line, line.zeros(), timeout=0.5),
        "pattern_of": lambda: ph.Exchange(cells, cells.zeros(), timeout=0.5),
        "PointSums": lambda: ph.PointSums(points, points.zeros(stagger=1), timeout=0.5),
        "Redistribution": lambda: move(grid.zeros(), grid.zeros()),
    }
    texts = []
    if COMM.rank == 0:
        with ThreadPoolExecutor(len(calls)) as pool:
            texts = list(pool.map(told, calls.values()))
    for name in ("split_components", "pattern_of") if COMM.rank == 1 else ():
        function = getattr(exchange, name)
        setattr(exchange, name, lambda *_: 1 // 0)
        try:
            calls[name]()
        except ZeroDivisionError:
            pass
        setattr(exchange, name, function)
    COMM.Barrier()
    assert all("rank 1 has not called" in text for text in texts), texts


def test_a_second_thread_is_told_while_arrays_are_read():
    class Hooked:
        """Has another thread make a call while it is read."""

        halo = None

        def __init__(self, array, call):
            self.array, self.call, self.texts = array, call, []

        def meanwhile(self):
            thread = Thread(target=lambda: self.texts.append(told(self.call)))
            thread.start()
            thread.join()
            return self.array

        arrays = property(meanwhile)

        def __dlpack__(self, **how):
            return self.meanwhile().__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    u, exchange = ring()
    v = u.copy()
    hooked = Hooked(u, lambda: exchange(v))
    exchange(hooked)
    hooked_whole = Hooked(u, exchange.only(depth=0))
    exchange(hooked_whole)
    cells = ph.IndexMap.pull(3, [(3 * COMM.rank + 3) % (3 * COMM.size)] if COMM.size > 1 else [])
    x, y = np.zeros(cells.size), np.zeros(cells.size)
    cells.forward(x)
    hooked_cells = Hooked(x, lambda: cells.forward(y))
    cells.forward(hooked_cells)
    for each in (hooked, hooked_whole, hooked_cells):
        assert each.texts and all("another thread is using" in text for text in each.texts), each.texts


def test_arrays_without_ghosts_are_refused():
    domain = ph.CartesianDomain((6 * COMM.size, 4), halo=1, periodic=True)
    owned = tuple(domain.zeros().owned.shape)
    refused(ValueError, ph.Exchange, domain, np.zeros(owned), says="needs")
    ph.Exchange(domain, ph.Field(np.zeros(owned), halo=0))()  # said


if __name__ == "__main__":
    main(globals())

"""Mistakes that were silent, or hung, and what is told of them."""

import os
import time

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
    assert COMM.rank == LAST or "in the first call of this library" in text, text


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


def test_arrays_without_ghosts_are_refused():
    domain = ph.CartesianDomain((6 * COMM.size, 4), halo=1, periodic=True)
    owned = tuple(domain.zeros().owned.shape)
    refused(ValueError, ph.Exchange, domain, np.zeros(owned), says="needs")
    ph.Exchange(domain, ph.Field(np.zeros(owned), halo=0))()  # said


if __name__ == "__main__":
    main(globals())

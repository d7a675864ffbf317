"""begin and end, several exchanges at once, other threads while it waits, and how long things live."""

import gc
import itertools
import json
import os
import re
import threading
import time
import weakref

import numpy as np
from _oracle import grid_sample
from _ranks import COMM, main, refused

import parhelion as ph
from parhelion import _core

RANKS = (1, 2, 4)


def domain_and_sample(field=0):
    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    return domain, grid_sample(domain, 0, domain.halo, np.dtype("float64"), field=field)


def test_a_step_ends_once_and_fills_the_ghosts():
    domain, sample = domain_and_sample()
    exchange = ph.Exchange(domain, sample.view)
    with exchange.begin() as step:
        assert exchange.under_way and not step.ended
    assert step.ended and not exchange.under_way
    sample.check("with")
    refused(ValueError, step.end, says="ended")
    step = exchange.begin()
    step.end()
    exchange.begin()
    exchange.end()
    refused(ValueError, step.end, says="ended")
    sample.check("end")


def test_a_step_may_end_within_its_block_and_after_an_exception():
    domain, sample = domain_and_sample()
    exchange = ph.Exchange(domain, sample.view)
    with exchange.begin() as step:
        step.end()
    try:
        with exchange.begin():
            raise KeyError("from the block")
    except KeyError:
        pass
    assert not exchange.under_way
    exchange()
    sample.check("after an exception")


def test_beginning_twice_and_ending_without_begin_are_refused():
    domain, sample = domain_and_sample()
    exchange = ph.Exchange(domain, sample.view)
    refused(ValueError, exchange.end, says="begin")
    with exchange.begin():
        refused(ValueError, exchange.begin, says="under way")
        refused(ValueError, exchange, says="under way")
        refused(ValueError, exchange.reverse, says="under way")
    sample.check("after refusals")


def test_a_program_may_say_how_an_exchange_will_be_used():
    domain, sample = domain_and_sample()
    called = ph.Exchange(domain, sample.view, at_once=True)
    called()
    sample.check("called at once")
    called.reverse("replace")
    refused(ValueError, called.begin, says="constructed with at_once")
    begun = ph.Exchange(domain, sample.view, overlap=True)
    begun.begin().end()
    sample.check("begun around work")
    refused(ValueError, ph.Exchange, domain, sample.view, overlap=True, at_once=True, says="use one of at_once and overlap")
    last = COMM.rank == COMM.size - 1
    if COMM.size > 1:
        refused(ValueError, ph.Exchange, domain, sample.view, at_once=last, says="only called at once")


def test_an_exchange_is_retuned_and_fills_its_ghosts():
    domain, sample = domain_and_sample()
    exchange = ph.Exchange(domain, sample.view)
    exchange.retune()
    exchange()
    sample.check("retuned")
    exchange.retune(domain.zeros())
    with exchange.begin():
        refused(ValueError, exchange.retune, says="under way")
    refused(ValueError, exchange.only(depth=0).retune, says="retune that one")


def test_several_exchanges_are_under_way_at_once():
    domain, _ = domain_and_sample()
    samples = [domain_and_sample(field)[1] for field in range(5)]
    exchanges = [ph.Exchange(domain, sample.view) for sample in samples]
    for _ in range(3):
        steps = [exchange.begin() for exchange in exchanges]
        for step in reversed(steps):
            step.end()
    for sample in samples:
        sample.check("at once")


def test_other_threads_run_while_it_waits():
    """Rank 0 waits for rank 1, which waits for a word from rank 0's other thread: with a lock held, both wait forever."""
    domain, sample = domain_and_sample()
    exchange = ph.Exchange(domain, sample.view)
    word = COMM.Dup()

    def speak():
        time.sleep(0.2)  # until then, the main thread waits
        word.send("go", 1)

    if COMM.size > 1 and COMM.rank == 0:
        thread = threading.Thread(target=speak)
        thread.start()
        exchange()
        thread.join()
    else:
        if COMM.rank == 1:
            assert word.recv(source=0) == "go"
        exchange()
    sample.check("threads")
    word.Free()


def test_arrays_live_as_long_as_their_exchange():
    domain = ph.CartesianDomain((4, 4), halo=1, periodic=True)
    u = domain.full(3.0)
    u.owned[...] = 5
    alive, exchange = weakref.ref(u), ph.Exchange(domain, u)
    del u, domain
    gc.collect()
    exchange()
    assert (alive() == 5).all()
    assert exchange.arrays[0] is alive()
    del exchange
    gc.collect()
    assert alive() is None


def test_an_exchange_in_a_cycle_is_collected():
    domain = ph.CartesianDomain((4, 4), halo=1, periodic=True)
    u = domain.zeros()
    alive = weakref.ref(u)
    exchange = ph.Exchange(domain, u)
    exchange.itself, exchange.step = exchange, exchange.begin()
    exchange.end()
    del exchange, u
    gc.collect()
    assert alive() is None


def test_memory_of_an_array_lives_as_long_as_a_view():
    owned = ph.CartesianDomain((64, 64), halo=1).zeros("int32").owned
    gc.collect()
    assert _core.is_node_shared(owned.__array_interface__["data"][0])
    owned[...] = 7
    assert (owned == 7).all() and owned.base is not None


def test_an_array_cannot_be_moved_while_an_exchange_uses_it():
    domain = ph.CartesianDomain((4,), halo=1, periodic=True)
    u = np.zeros(domain.array_shape())
    exchange = ph.Exchange(domain, u)
    refused(ValueError, u.resize, (1000,), says="resize")
    exchange()


def test_dropping_an_exchange_under_way_harms_nobody():
    domain, sample = domain_and_sample()
    u = domain.zeros()
    alive, exchange = weakref.ref(u), ph.Exchange(domain, u)
    exchange.begin()
    del exchange, u
    gc.collect()
    assert alive() is not None, "messages under way still use the array"
    COMM.barrier()
    ph.Exchange(domain, sample.view)()
    sample.check("after one that was dropped")


def test_a_forked_child_may_not_exchange():
    domain, sample = domain_and_sample()
    exchange, under_way = ph.Exchange(domain, sample.view), ph.Exchange(domain, domain.zeros())
    os.environ["PARHELION_THREADS"] = "2"
    by_threads = ph.Exchange(domain, domain.zeros())
    del os.environ["PARHELION_THREADS"]
    by_threads()
    ring = ph.CartesianDomain((3 * COMM.size, 4), halo=1, periodic=(False, True), process_grid=(COMM.size, 1))
    force, (before, after) = ring.zeros(stagger=1), (ring.zeros(), ring.zeros())
    sums, redistribution = ph.PointSums(ring, force), ph.Redistribution(ring, ring)
    redistribution(before, after)
    force[...], before[...] = 1, 2
    step = under_way.begin()
    read, write = os.pipe()
    if os.fork() == 0:
        refusals = []
        calls = (exchange, step.end, lambda: ph.Exchange(domain, domain.zeros()), sums, lambda: redistribution(before, after))
        for call in calls:
            try:
                call()
            except ph.CommunicationError as error:
                refusals.append("was forked from a rank" in str(error))
            except BaseException as error:
                refusals.append(repr(error))
        del call, calls, exchange, by_threads
        gc.collect()
        os.write(write, repr(refusals).encode())
        os._exit(0)
    os.close(write)
    told = os.read(read, 10000).decode()
    os.close(read)
    assert told == repr([True] * 5), told
    assert np.all(force == 1) and not np.any(after), "the child changed its parent's arrays"
    step.end()
    exchange()
    sample.check("beside a child")


def test_pickles_and_copies_keep_their_halo():
    import pickle

    domain = ph.CartesianDomain((4, 5), halo=((1, 2), (0, 1)))
    u = domain.full(2.5, "float32", components=2)
    u.owned[...] = np.arange(u.owned.size).reshape(u.owned.shape)
    for protocol, whole in itertools.product((2, 5), (u, domain.full(1.0, order="F"))):
        again = pickle.loads(pickle.dumps(whole, protocol))
        assert np.array_equal(again, whole) and np.array_equal(again.owned, whole.owned) and again.flags.f_contiguous == whole.flags.f_contiguous
        assert (again.halo, again.block, again.domain) == (((1, 2), (0, 1)), 0, None)
    assert type(pickle.loads(pickle.dumps(u[1:]))) is np.ndarray
    ghosts = ph.IndexedDomain(owned=3, ghosts=[]).zeros()
    assert pickle.loads(pickle.dumps(ghosts)).ghosts.shape == (0,)
    assert (u * 2).owned.shape == u.owned.shape and u.copy().halo == u.halo
    assert u[1:].domain is None and u.transpose(1, 0, 2).domain is None and u[::-1].domain is None
    assert u[..., 0].owned.shape == u.owned.shape[:2]
    try:
        u[1:].owned  # noqa: B018
    except AttributeError as error:
        assert "halo" in str(error)
    else:
        raise AssertionError("a slice has an owned part")


def test_an_array_that_was_pickled_is_exchanged():
    import pickle

    domain = ph.CartesianDomain((8, 6), halo=1, periodic=True)
    u = domain.full(-1.0)
    u.owned[...] = domain.comm.rank
    again = pickle.loads(pickle.dumps(u))
    ph.Exchange(domain, u)()
    ph.Exchange(domain, again)()
    assert np.array_equal(u, again) and (again >= 0).all()


def test_reductions_are_scalars():
    u = ph.CartesianDomain((4, 5), halo=1).full(2.0, "float32")
    for made in (u.sum(), u.max(), u.mean(), u.std(), np.linalg.norm(u), np.add.reduce(u, axis=None), u[0] @ u[0], u.any()):
        assert isinstance(made, np.generic) and not isinstance(made, np.ndarray), type(made)
    assert u.sum(axis=0).shape == u.shape[1:] and (u + u).halo == u.halo


def test_arrays_and_scalars_go_into_json():
    u = ph.CartesianDomain((4,), halo=1).full(2.0, "float32")
    made = json.loads(json.dumps({"u": u.owned, "sum": u.owned.sum()}, default=lambda value: value.tolist()))
    assert made == {"u": u.owned.tolist(), "sum": float(u.owned.sum())}


def test_a_notebook_shows_owned_cells_and_ghosts():
    from xml.etree import ElementTree

    u = ph.CartesianDomain((4 * COMM.size, 40, 3), halo=((1, 2), (3, 0), (0, 0)), process_grid=(COMM.size, 1, 1)).zeros()
    ElementTree.fromstring(u._repr_html_().replace("■", ""))
    assert "3+0" in u._repr_html_() and "along the other 1" in u._repr_html_() and 'class="owned"' in u._repr_html_()
    assert u[0]._repr_html_().startswith("<pre>")
    shown = ph.CartesianDomain((6 * COMM.size,), halo=2).zeros()._repr_html_()
    whole, owned = (float(re.search(rf'class="{name}"[^>]* width="([\d.]+)', shown)[1]) for name in ("ghosts", "owned"))
    assert owned / whole == 0.6
    assert "3 ghosts" not in shown and "0 ghosts" in ph.IndexedDomain(owned=3, ghosts=[]).zeros()._repr_html_()


if __name__ == "__main__":
    main(globals())

"""Ghosts' contributions against a sum, minimum, … over the whole grid, made on one array."""

import itertools

import numpy as np
from _oracle import ghosts_filled, grid_cells, owned_part
from _ranks import COMM, main

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)
UFUNCS = {"sum": np.add, "min": np.minimum, "max": np.maximum, "bit_and": np.bitwise_and, "bit_or": np.bitwise_or}


def fill_at_random(domain, u, salt=0):
    """Owned cells and filled ghosts are random, whatever else is 7."""
    rng = np.random.default_rng([COMM.rank, salt])
    filled = ghosts_filled(domain, 0, domain.halo)
    u[...] = 7
    u[filled] = rng.integers(0, 50, filled.sum())
    u.owned[...] = rng.integers(0, 50, u.owned.shape)
    return u


def combined(domain, u, ufunc):
    """What this rank's owned cells must become: every rank's ghosts applied to one array of the whole grid."""
    cells, filled = grid_cells(domain, 0, domain.halo), ghosts_filled(domain, 0, domain.halo)
    owned = owned_part(domain, 0, domain.halo)
    whole = np.zeros(np.prod(domain.extents), u.dtype)
    for numbers, values in COMM.allgather((cells[owned].ravel(), np.asarray(u)[owned].ravel())):
        whole[numbers] = values
    for numbers, values in COMM.allgather((cells[filled], np.asarray(u)[filled])):
        ufunc.at(whole, numbers, values)
    return whole[cells[owned]]


def domains():
    shape, halo = (7, 6), ((2, 1), (1, 1))
    yield ph.CartesianDomain(shape, halo, periodic=True, algorithm="by_dimension")
    yield ph.CartesianDomain(shape, halo, periodic=(True, False))
    yield ph.CartesianDomain(shape, halo, periodic=True, neighbors="faces")
    if COMM.size <= 2:
        yield ph.CartesianDomain(shape, halo, periodic=False, neighbors="faces")
        yield ph.CartesianDomain(shape, halo, periodic=True)


def test_owners_get_every_ghosts_contribution():
    for domain, dtype in itertools.product(domains(), ("int8", "uint16", "float64", "uint64")):
        u = domain.zeros(dtype)
        exchange = ph.Exchange(domain, u)
        for number, (name, ufunc) in enumerate(UFUNCS.items()):
            if name.startswith("bit") and u.dtype.kind == "f":
                continue
            before = fill_at_random(domain, u, number).copy()
            expected = combined(domain, u, ufunc)
            exchange.reverse(name)
            assert np.array_equal(u.owned, expected), f"{name} of {dtype} in {domain}"
            before.owned[...] = u.owned
            assert domain.algorithm == "by_dimension" or np.array_equal(u, before), "a ghost was changed"


def test_complex_numbers_are_summed():
    domain = ph.CartesianDomain((8,), halo=1, periodic=True)
    u = fill_at_random(domain, domain.zeros("complex128")) * (1 + 2j)
    expected = combined(domain, u, np.add)
    with ph.Exchange(domain, u).begin_reverse():
        pass
    assert np.array_equal(u.owned, expected)


def test_replace_takes_the_value_of_one_ghost():
    domain = ph.CartesianDomain((6, 5), halo=1, periodic=True)
    u = domain.zeros("int64")
    u[...] = np.arange(u.size).reshape(u.shape) + 1000 * COMM.rank
    candidates = [set() for _ in range(30)]
    filled = ghosts_filled(domain, 0, domain.halo)
    for numbers, values in COMM.allgather((grid_cells(domain, 0, domain.halo)[filled], np.asarray(u)[filled])):
        for number, value in zip(numbers, values):
            candidates[number].add(value)
    ph.Exchange(domain, u).reverse("replace")
    numbers = grid_cells(domain, 0, domain.halo)[owned_part(domain, 0, domain.halo)]
    for number, value in zip(numbers.ravel(), u.owned.ravel()):
        assert not candidates[number] or value in candidates[number], (number, value, candidates[number])


def test_floating_point_sums_repeat_bit_for_bit():
    domain = ph.CartesianDomain((9, 7, 5), halo=1, periodic=True)
    u = domain.zeros("float32")
    exchange, results = ph.Exchange(domain, u), []
    for _ in range(5):
        u[...] = np.random.default_rng(COMM.rank).standard_normal(u.shape)
        exchange.reverse("sum")
        results.append(u.owned.tobytes())
    assert len(set(results)) == 1


def test_every_duplicate_of_an_indexed_ghost_counts():
    owned, total = 3, 3 * COMM.size
    ghosts = [i for i in range(total) if i // 3 != COMM.rank] * 2
    domain = ph.IndexedDomain(owned, ghosts)
    x = domain.zeros("int64")
    x.owned[:], x.ghosts[:] = 5, domain.ghost_ids + 1
    ph.Exchange(domain, x).reverse()
    assert x.owned.tolist() == [5 + 2 * (COMM.size - 1) * (domain.first + i + 1) for i in range(owned)]


def test_forward_and_reverse_sum_are_adjoint():
    domain = ph.CartesianDomain((8, 9), halo=((1, 2), (2, 1)), periodic=(True, False))
    x, y = (fill_at_random(domain, domain.zeros("int64"), salt) for salt in (1, 2))
    filled = ghosts_filled(domain, 0, domain.halo)
    x[filled] = 0
    forward, back = x.copy(), y.copy()
    ph.Exchange(domain, forward)()
    ph.Exchange(domain, back).reverse()
    involved = filled.copy()
    involved[owned_part(domain, 0, domain.halo)] = True
    left = COMM.allreduce(int((forward * y)[involved].sum()))
    right = COMM.allreduce(int((x.owned * back.owned).sum()))
    assert left == right


if __name__ == "__main__":
    main(globals())

"""Fields on points, array halos wider than the depth, ranks in other orders, ends that ranks own."""

from itertools import islice, product

import numpy as np
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 4)
CELLS = (5, 3 * COMM.size)
STAGGERS = [(0, 0), (1, 0), (0, 1), (1, 1)]


def told(kind, says, function):
    refused(kind, function, says=says)


def make(boundary="owned", **options):
    return ph.CartesianDomain(CELLS, halo=2, process_grid=(1, COMM.size), boundary=boundary, **options)


def value(x, y, number):
    return 1000.0 * number + 40.0 * (x + 5) + y


def coordinates(domain, array):
    """Global coordinates of all that an array has, to broadcast."""
    halo = array.halo
    first = [part.start - side[0] for part, side in zip(domain.owned, halo, strict=True)]
    return np.ogrid[tuple(slice(low, low + extent) for low, extent in zip(first, array.shape[:2], strict=True))]


def window(domain, array, layers):
    """What this rank owns, and `layers` more, as far as somebody owns it."""
    known = []
    for d, x in enumerate(coordinates(domain, array)):
        own, more, deep = domain.owned[d], array.stagger[d], array.depth[d][0] if domain.boundary == "owned" else 0
        low, high = -deep, CELLS[d] + more + deep
        first = own.start - (deep if own.start == 0 else 0)
        last = own.stop + (more + deep if own.stop == CELLS[d] else 0)
        if layers is not None:
            first, last = max(first - layers, low), min(max(last, own.stop + more) + layers, high)
        known.append((x >= first) & (x < last))
    return known[0] & known[1]


def fill(domain, array, number):
    x, y = coordinates(domain, array)
    np.asarray(array)[...] = np.where(window(domain, array, None), value(x, y, number), -1)


def is_filled(domain, array, number, layers):
    x, y = coordinates(domain, array)
    return np.array_equal(np.asarray(array), np.where(window(domain, array, layers), value(x, y, number), -1))


def test_fields_of_four_staggers_travel_in_one_message():
    for boundary, depth, order, extra in product(("open", "owned"), (0, 1, 2), "CF", (0, 1)):
        domain = make(boundary)
        arrays = [domain.zeros(stagger=stagger, halo=2 + extra, depth=depth, order=order) for stagger in STAGGERS]
        exchange = ph.Exchange(domain, *arrays, transport="mpi")
        for _ in range(2):
            for number, array in enumerate(arrays):
                fill(domain, array, number)
            exchange()
            assert all(is_filled(domain, array, number, depth) for number, array in enumerate(arrays)), (boundary, depth, order)
        assert exchange.messages_sent() <= min(2, COMM.size - 1)
        others = [domain.full(-1.0, stagger=stagger, halo=2 + extra, depth=depth, order=order) for stagger in STAGGERS]
        for number, array in enumerate(others):
            fill(domain, array, number)
        with exchange.begin(*others):
            pass
        assert all(is_filled(domain, array, number, depth) for number, array in enumerate(others))


def own_and_right(domain, block, stagger, depth):
    """Of each dimension: what a block has, owns, and has right values of after an exchange, from and to."""
    for part, more, extent in zip(block, stagger, domain.extents, strict=True):
        end = depth if domain.boundary == "owned" else 0
        own, right = [part.start, part.stop], [part.start - depth, part.stop + more + depth]
        if not domain.periodic[0]:
            own = [part.start - (end if part.start == 0 else 0), part.stop + (more + end if part.stop == extent else 0)]
            right = [max(right[0], -end), min(right[1], extent + more + end)]
        yield (part.start - 2, part.stop + more + 2), own, right


def laws_hold(domain, stagger, depth, order):
    """What forward fills, and that reverse is its adjoint."""
    arrays = domain.full(-1.0, stagger=stagger, depth=depth, order=order)
    arrays = arrays if isinstance(arrays, list) else [arrays]
    exchange = ph.Exchange(domain, arrays if len(arrays) > 1 else arrays[0], transport="mpi")
    known, sums = [], np.zeros(2)
    for block in domain.blocks:
        all, own, right = zip(*own_and_right(domain, block, stagger, depth), strict=True)
        x, y = np.ogrid[slice(*all[0]), slice(*all[1])]
        at = [x % domain.extents[0], y % domain.extents[1]] if domain.periodic[0] else [x, y]
        inside = [(low[0] <= x) & (x < low[1]) & (high[0] <= y) & (y < high[1]) for low, high in (own, right)]
        known.append((value(*at, 0), *inside))
    for array, (values, own, _) in zip(arrays, known, strict=True):
        np.asarray(array)[...] = np.where(own, values, -1)
    exchange()
    filled = True
    for number, (array, (values, _, right)) in enumerate(zip(arrays, known, strict=True)):
        filled = filled and np.array_equal(array, np.where(right, values, -1))
        other = np.where(right, (7 * COMM.rank + 3 * number + np.arange(array.size).reshape(array.shape)) % 13, 0)
        sums[0] += (np.asarray(array) * other).sum()
        np.asarray(array)[...] = other
    exchange.reverse("sum")
    for array, (values, own, _) in zip(arrays, known, strict=True):
        sums[1] += np.where(own, np.asarray(array) * values, 0).sum()
    left, right = COMM.allreduce(sums)
    return filled and left == right


def test_laws_hold_for_blocks_orders_and_ends():
    grid = (2, COMM.size // 2) if COMM.size % 2 == 0 else (1, COMM.size)
    settings = product(STAGGERS, (0, 1, 2), "CF", ("last", "first"), ("open", "owned"), (False, True), (1, 2))
    for stagger, depth, order, ranks, boundary, periodic, blocks in islice(settings, 0, None, 1 if COMM.size <= 2 else 23):
        if depth == 0 and not any(stagger):
            continue  # nothing moves
        domain = ph.CartesianDomain((3 * grid[0] * blocks, 3 * grid[1]), halo=2, process_grid=grid, blocks_per_rank=(blocks, 1), rank_order=ranks,
                                    boundary=boundary, periodic=periodic)
        assert laws_hold(domain, stagger, depth, order), (stagger, depth, order, ranks, boundary, periodic, blocks)


def test_arrays_of_others_tell_their_stagger():
    domain = make()
    plain = [np.full(domain.array_shape(halo=3, stagger=stagger), -1.0) for stagger in STAGGERS]
    fields = [ph.Field(array, halo=3, stagger=stagger, depth=1) for array, stagger in zip(plain, STAGGERS, strict=True)]
    like = [domain.zeros(halo=3, stagger=stagger, depth=1) for stagger in STAGGERS]
    for number, (array, known) in enumerate(zip(plain, like, strict=True)):
        fill(domain, known, number)
        array[...] = known
    ph.Exchange(domain, *fields)()
    ph.Exchange(domain, *like)()
    for array, known in zip(plain, like, strict=True):
        assert np.array_equal(array, known)


def test_what_an_array_knows():
    domain = make()
    u = domain.zeros(stagger=(1, 0), halo=((3, 2), 2), depth=1)
    n = 3 * COMM.size // COMM.size
    assert u.shape == (5 + 1 + 5, n + 4) == domain.array_shape(halo=((3, 2), 2), stagger=(1, 0))
    assert (u.stagger, u.halo, u.depth) == ((1, 0), ((3, 2), (2, 2)), ((1, 1), (1, 1)))
    assert u.held.shape == (6, n)
    assert u.owned.shape == (6, n)  # one rank in this dimension: the last point is its own
    v = domain.zeros(stagger=1)
    last = domain.owned[1].stop == CELLS[1]
    assert v.held.shape == (6, n + 1)
    assert v.owned.shape == (6, n + last)
    points = domain.staggered(1)
    assert points.extents == (6, CELLS[1] + 1)
    assert points.stagger == (1, 1)
    v.owned[...] = points.global_indices()[1]
    assert v.owned[0, -1] == points.owned[1].stop - 1
    assert points.zeros().shape == v.shape
    assert domain.staggered((1, 0)).zeros(stagger=(0, 1)).stagger == (1, 1)


def test_a_duplicated_point_gets_the_owners_value():
    domain = make("open")
    u = domain.zeros(stagger=(0, 1), depth=0)
    u.held[...] = COMM.rank
    ph.Exchange(domain, u)()
    following = min(COMM.rank + 1, COMM.size - 1)
    assert (u.held[:, -1] == following).all()
    assert (u.held[:, :-1] == COMM.rank).all()
    assert (np.asarray(u)[:, :2] == 0).all()


def test_sums_of_points_reach_their_owners():
    domain = make("open")
    u = domain.zeros(stagger=(0, 1), depth=0)
    u.held[...] = 1
    ph.Exchange(domain, u).reverse("sum")
    first = domain.owned[1].start > 0
    assert (u.owned[:, 0] == 1 + first).all()


def test_periodic_points():
    domain = ph.CartesianDomain(CELLS, halo=1, periodic=True, process_grid=(1, COMM.size))
    u = domain.full(-1.0, stagger=1)
    assert u.owned.shape == (5, 3)
    x, y = domain.global_indices()
    u.owned[...] = value(x, y, 0)
    ph.Exchange(domain, u)()
    x, y = coordinates(domain, u)
    assert np.array_equal(u, value(x % CELLS[0], y % CELLS[1], 0))


def test_ranks_in_other_orders():
    grid = (2, COMM.size // 2) if COMM.size % 2 == 0 else (1, COMM.size)
    domain = ph.CartesianDomain((4, 4 * COMM.size), process_grid=grid, rank_order="first")
    assert domain.coordinates == (COMM.rank % grid[0], COMM.rank // grid[0])
    table = list(range(COMM.size))[::-1]
    domain = ph.CartesianDomain(4 * COMM.size, rank_order=table)
    assert domain.coordinates == (COMM.size - 1 - COMM.rank,)
    u = domain.zeros()
    u.owned[...] = COMM.rank
    ph.Exchange(domain, u)()
    assert COMM.rank == 0 or u[-1] == COMM.rank - 1
    if COMM.size > 1:
        told(ValueError, "no place for rank 1", lambda: ph.CartesianDomain(8, rank_order=[0] * COMM.size))
    told(ValueError, "entries", lambda: ph.CartesianDomain(8, rank_order=[0] * (COMM.size + 1)))
    told(ValueError, "rank_order is 'x'", lambda: ph.CartesianDomain(8, rank_order="x"))
    told(ValueError, "no Cartesian topology", lambda: ph.CartesianDomain(8, rank_order="communicator"))


def test_a_cartesian_communicator_is_taken_over():
    cart = COMM.Create_cart((COMM.size, 1), periods=(True, False), reorder=True)
    domain = ph.CartesianDomain((3 * COMM.size, 4), rank_order="communicator", comm=cart)
    assert domain.process_grid == (COMM.size, 1)
    assert domain.periodic == (True, False)
    assert list(domain.coordinates) == cart.Get_coords(cart.rank)
    del domain
    cart.Free()


def test_a_pattern_of_points_is_for_such_fields_alone():
    domain = make()
    pattern = ph.build_pattern(domain.staggered((0, 1)))
    u = domain.zeros(stagger=(0, 1))
    fill(domain, u, 3)
    ph.Exchange(pattern, u)()
    assert is_filled(domain, u, 3, 2)
    told(ValueError, "differs in stagger", lambda: ph.Exchange(pattern, domain.zeros(stagger=(1, 0))))
    told(ValueError, "does not state its points", lambda: ph.Exchange(pattern, np.asarray(u)))


def test_what_cannot_be_is_refused_with_a_remedy():
    domain = make()
    told(ValueError, "beyond the domain's halo", lambda: domain.zeros(halo=4, depth=3))
    told(ValueError, "beyond the array's halo", lambda: domain.zeros(halo=1, depth=2))
    told(ValueError, "stagger is 2", lambda: domain.zeros(stagger=2))
    told(ValueError, "stagger has 3 items", lambda: domain.zeros(stagger=(1, 0, 0)))
    told(ValueError, "staggered in dimension 0 already", lambda: domain.staggered(1).staggered((1, 0)))
    told(ValueError, "process grid 2 × 2 × 2 needs 8 ranks", lambda: ph.CartesianDomain((8, 8, 8), process_grid=(2, 2, 2)))
    if COMM.size > 1:
        told(ValueError, "the stagger of field 0 in dimension 1 is 1 on rank 0 and 0",
                lambda: ph.Exchange(domain, domain.zeros(stagger=(0, int(COMM.rank == 0)))))


if __name__ == "__main__":
    main(globals())

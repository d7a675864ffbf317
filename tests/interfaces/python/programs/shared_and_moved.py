"""Sums of shared points, reductions of the program's own, redistribution, local connectivity."""

import tempfile
from itertools import permutations, product
from pathlib import Path

import numpy as np
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 3)


def shared_nodes(points=12):
    """Each point belongs to one rank; the first half is held by all, the others by their owner and the next rank."""
    ids = np.arange(points)
    owner = ids % COMM.size
    held = (ids < points // 2) | (owner == COMM.rank) | ((owner + 1) % COMM.size == COMM.rank)
    mine = owner == COMM.rank
    return ph.IndexMap.pull(ids[mine], ids[held & ~mine][::-1])


def ids_of(map):
    return np.concatenate([map.owned_ids, map.ghost_ids])


def test_holders_get_the_same_bits_of_a_sum_in_the_order_of_ranks():
    nodes = shared_nodes()
    ids = ids_of(nodes)
    values = np.random.default_rng(COMM.rank).normal(size=12)
    everybody = COMM.allgather((ids, values))
    for round in range(3):
        x, y = values[ids].copy(), nodes.zeros("f4", components=2)
        y[:] = (values[ids] * (round + 1)).astype("f4")[:, None] * [1, 3]
        if round == 1:
            with nodes.begin_reduce_shared("sum", x, y):
                pass
        else:
            nodes.sum_shared(x, y)
        for cell, point in enumerate(ids):
            total, total4 = None, None
            for held, others in everybody:
                if point not in held:
                    continue
                one = (others[point] * (round + 1)).astype("f4") * np.array([1, 3], "f4")
                total, total4 = (others[point], one) if total is None else (total + others[point], total4 + one)
            assert x[cell] == total and (y[cell] == total4).all()
    assert "1 round" in nodes.explain_shared(x, y)


def sums_of_points(domain, stagger, values):
    """Of every point of this rank: its values on all ranks, added in the order of ranks, on one rank by coordinates."""
    box = [(part.start, part.stop + more) for part, more in zip(domain.owned, stagger, strict=True)]
    around = [each and more for each, more in zip(domain.periodic, stagger, strict=True)]

    def point(place, box):
        at = [low + i for i, (low, _) in zip(place, box, strict=True)]
        return tuple(x % extent if wrapped else x for x, extent, wrapped in zip(at, domain.extents, around, strict=True))

    totals = {}
    for others_box, others in COMM.allgather((box, values)):
        of_rank = {}
        for place in np.ndindex(others.shape[: len(box)]):
            name = point(place, others_box)
            of_rank[name] = of_rank[name] + others[place] if name in of_rank else others[place]
        for name, total in of_rank.items():
            totals[name] = totals[name] + total if name in totals else total
    expected = np.empty_like(values)
    for place in np.ndindex(values.shape[: len(box)]):
        expected[place] = totals[point(place, box)]
    return expected


def test_holders_of_a_grids_points_get_the_same_bits_of_their_sum():
    random = np.random.default_rng(COMM.rank)
    for dims, number in product((2, 3), range(12)):
        stagger = [(1, 0, 1), (0, 1, 1), (1, 1, 1)][number % 3][3 - dims :]
        periodic = [number % 2 == 1, number % 4 > 1, False][:dims]
        domain = ph.CartesianDomain((3 * COMM.size + 1, 5, 2)[:dims], periodic=periodic, boundary=("open", "owned")[number % 2])
        one = domain.full(-1.0, stagger=stagger, halo=number % 3, order="CF"[number // 6])
        two = domain.full(-1.0, "f4", stagger=stagger, halo=number % 3, components=2, order="CF"[number // 6])
        sums = ph.PointSums(domain, one, two, transport="mpi")
        for round in range(2):
            for array in (one, two):
                array.held[...] = random.normal(size=array.held.shape)
            right = [sums_of_points(domain, stagger, np.array(array.held)) for array in (one, two)]
            if round == 0:
                sums()
            else:
                sums.begin("sum", one, two)
                sums.end()
            for array, expected in zip((one, two), right, strict=True):
                assert np.array_equal(array.held, expected), (dims, number, round)
                outside = np.asarray(array).copy()
                outside[tuple(slice(side[0], extent - side[1]) for side, extent in zip(array.halo, array.shape, strict=False))] = -1
                assert (outside == -1).all()
    assert "shared" in sums.explain()


def place_of(domain, array):
    return tuple(slice(part.start, part.start + extent) for part, extent in zip(domain.blocks[array.block], array.held.shape, strict=True))


def test_points_of_several_blocks_get_the_sum_of_all():
    for dims, number in product((2, 3), range(8)):
        stagger = [(1, 0, 1), (1, 1, 1)][number % 2][3 - dims :]
        periodic = [number % 4 > 1, number % 2 == 0, True][:dims]
        domain = ph.CartesianDomain((3 * COMM.size + 4, 7, 5)[:dims], periodic=periodic, blocks_per_rank=(2, 3, 1)[:dims])
        one = domain.full(-1, "i8", stagger=stagger, halo=number % 3, order="CF"[number // 4])
        two = domain.full(-1.0, stagger=stagger, halo=number % 3, components=2, order="CF"[number // 4])
        cells = np.zeros([n + more for n, more in zip(domain.extents, stagger, strict=True)], "i8")  # of what each point is a corner
        for array in one:
            place = place_of(domain, array)
            values = np.random.default_rng([part.start for part in place]).integers(0, 100, array.held.shape)
            array.held[...] = values
            cells[place] += values
        for array, other in zip(one, two, strict=True):
            other.held[...] = np.array(array.held)[..., None] * [1, 2]
        COMM.Allreduce(cells.copy(), cells)
        for axis, (around, more) in enumerate(zip(periodic, stagger, strict=True)):
            if around and more:  # point N is point 0
                ends = np.take(cells, 0, axis) + np.take(cells, -1, axis)
                for end in (0, -1):
                    np.moveaxis(cells, axis, 0)[end] = ends
        sums = ph.PointSums(domain, one, two)
        inner = two[0].held[tuple(slice(1, -1) for _ in range(dims))]
        before = np.array(inner)
        sums.begin()
        inner += 1  # no one else's, hence free
        sums.end()
        assert np.array_equal(inner, before + 1)
        inner -= 1
        for array, other in zip(one, two, strict=True):
            place = place_of(domain, array)
            assert np.array_equal(array.held, cells[place]), (dims, number)
            assert np.array_equal(other.held, cells[place][..., None] * [1, 2]), (dims, number)
            assert np.asarray(array).sum() - array.held.sum() == array.held.size - array.size


def test_sums_of_points_refuse_what_is_none():
    domain = ph.CartesianDomain((4 * COMM.size, 4), process_grid=(COMM.size, 1))
    u = domain.zeros(stagger=1)
    refused(ValueError, lambda: ph.PointSums(domain, domain.zeros()), says="lives on cells")
    refused(ValueError, lambda: ph.PointSums(domain), says="no arrays")
    refused(ValueError, lambda: ph.PointSums(domain, u, domain.zeros(stagger=(1, 0))), says="differs in stagger or layout")
    refused(TypeError, lambda: ph.PointSums(ph.IndexMap.pull(1, []), u), says="sum_shared")
    sums = ph.PointSums(domain, u)
    refused(ValueError, sums.end, says="begin")
    u[...] = COMM.rank + 1.0
    sums.reduce(ph.Reduction(lambda a, b: 10 * a + b, "f8"))
    if COMM.size > 1 and COMM.rank == 0:
        assert u.held[-1, 0] == 12
    assert COMM.rank == 0 or u.held[0, 0] == 10 * COMM.rank + COMM.rank + 1


def test_shared_points_take_any_reduction():
    nodes = shared_nodes()
    ids = ids_of(nodes)
    lowest, last = ids * 10 + COMM.rank, np.full(nodes.size, float(COMM.rank))
    nodes.reduce_shared("min", lowest)
    nodes.reduce_shared("replace", last)
    ranks = [[rank for rank, held in enumerate(COMM.allgather(set(ids.tolist()))) if point in held] for point in range(12)]
    assert lowest.tolist() == [point * 10 + ranks[point][0] for point in ids]
    assert last.tolist() == [ranks[point][-1] for point in ids]
    log_sum = ph.Reduction(np.logaddexp, "f8")
    x = np.log(1.0 + COMM.rank + ids)
    nodes.reduce_shared(log_sum, x)
    np.testing.assert_allclose(np.exp(x), [sum(1.0 + rank + point for rank in ranks[point]) for point in ids])


def test_a_reverse_exchange_takes_a_function_of_the_program():
    nearest = np.dtype([("distance", "f8"), ("who", "i4")])

    def nearer(a, b):
        return np.where(b["distance"] < a["distance"], b, a)

    map = ph.IndexMap.pull(2, [0, 1, 0])
    hits = np.zeros(map.size, nearest)
    hits["distance"], hits["who"] = 100 + np.arange(map.size), -1
    hits["distance"][map.owned :], hits["who"][map.owned :] = [50 - COMM.rank, 200, 60 - COMM.rank], COMM.rank
    map.reverse(ph.Reduction(nearer, nearest), hits)
    if COMM.rank == 0:
        assert hits["who"][:2].tolist() == [COMM.size - 1, -1] and hits["distance"][0] == 51 - COMM.size
    domain = ph.CartesianDomain((4 * COMM.size,), halo=1, periodic=True, process_grid=(COMM.size,))
    u = domain.full(2.0)
    exchange = ph.Exchange(domain, u)
    power = ph.Reduction(lambda a, b: a**b, "f8")
    with exchange.begin_reverse(power):
        pass
    assert u.owned.tolist() == [4, 2, 2, 4]
    exchange.reverse("prod")
    assert u.owned.tolist() == [8, 2, 2, 8]


def test_what_a_reduction_raises_arrives_on_its_rank_and_nobody_is_left_waiting():
    def careful(a, b):
        if COMM.rank == 0:
            raise KeyError("not here")
        return a + b

    map = ph.IndexMap.pull(1, [(COMM.rank + 1) % COMM.size] if COMM.size > 1 else [0])
    x = np.ones(2)
    try:
        map.reverse(ph.Reduction(careful, "f8"), x)
    except KeyError:
        assert COMM.rank == 0
    else:
        assert COMM.rank != 0 and x[0] == 2
    map.forward(x)
    try:  # what comes from within Python itself
        map.reverse(ph.Reduction(lambda a, b: 1 / 0, "f8"), x)
        assert map.ghosts == 0
    except ZeroDivisionError as error:
        assert str(error) == "division by zero"
    refused(TypeError, map.reverse, ph.Reduction(np.add, "f4"), x, says="float32")
    refused(TypeError, map.reverse, np.add, x, says="a reduction is a name")
    refused(TypeError, map.reverse, "max", x.astype("c16"), says="no order")


def test_a_transport_that_there_is_not_is_refused_when_a_redistribution_is_made():
    rows = ph.CartesianDomain((7, 5), process_grid=(COMM.size, 1))
    cells = ph.IndexedDomain(3)
    for each in (rows, cells):
        refused(ValueError, ph.Redistribution, each, each, transport="pigeon", says="no transport 'pigeon'")


def test_grids_move_to_another_process_grid_and_back():
    rows = ph.CartesianDomain((7, 5), halo=1, process_grid=(COMM.size, 1))
    columns = ph.CartesianDomain((7, 5), halo=2, process_grid=(1, COMM.size))
    one = ph.CartesianDomain((7, 5), halo=0, process_grid=(COMM.size, 1), splits=([7] + [0] * (COMM.size - 1), [5]))
    u, v = rows.full(-1.0), columns.full(-1.0)
    k, m = rows.zeros("i4", components=3, order="F"), columns.zeros("i4", components=3)
    i, j = rows.global_indices()
    u.owned[:] = 10 * i + j
    k.owned[:] = (10 * i + j)[..., None] * [1, 2, 3]
    before = np.array(u), np.array(k)
    redistribute = ph.Redistribution(rows, columns)
    redistribute.forward((u, v), (k, m))
    i, j = columns.global_indices()
    assert (v.owned == 10 * i + j).all() and (m.owned == (10 * i + j)[..., None] * [1, 2, 3]).all()
    assert np.asarray(v).sum() == v.owned.sum() - (v.size - v.owned.size)
    before[0].flags.writeable = False
    v[...] = -1
    redistribute(before[0], v)
    assert (v.owned == 10 * i + j).all()
    refused(ValueError, redistribute.back, (before[0], v), says="read-only")
    refused(ValueError, ph.Redistribution(rows, rows), u, u, says="shares memory")
    u.owned[:], k.owned[:] = 0, 0
    redistribute.back((u, v), (k, m))
    assert (u == before[0]).all() and (k == before[1]).all()
    whole = one.zeros()
    ph.Redistribution(columns, one)(v, whole)
    assert COMM.rank > 0 or (whole == np.add.outer(10 * np.arange(7), np.arange(5))).all()
    refused(ValueError, ph.Redistribution, rows, ph.CartesianDomain((7, 6)), says="different extents")
    refused(TypeError, redistribute, u, m, says="equal dtypes")


def test_axes_change_places_as_numpy_transposes_them():
    whole = np.arange(7 * 5 * 4.0).reshape(7, 5, 4)
    for axes in permutations(range(3)):
        source = ph.CartesianDomain(whole.shape, halo=0, process_grid=(COMM.size, 1, 1))
        target = ph.CartesianDomain(whole.transpose(axes).shape, halo=1, process_grid=(1, COMM.size, 1))
        padded, v = np.full((7, 5, 6), -1.0), target.full(-1.0)
        u, k, m = padded[: source.owned[0].stop - source.owned[0].start, :, :4], source.zeros("i4", components=2), target.zeros("i4", components=2)
        u[:] = whole[source.owned[0].start : source.owned[0].stop]
        k[:] = u[..., None] * [1, 2]
        transpose = ph.Redistribution(source, target, axes=axes)
        transpose.prepare((u, v), (k, m))
        transpose.forward((u, v), (k, m))
        expected = whole.transpose(axes)[:, target.owned[1].start : target.owned[1].stop]
        assert (v.owned == expected).all() and (m.owned == expected[..., None] * [1, 2]).all()
        before = padded.copy()
        u[:] = 0
        transpose.back((u, v), (k, m))
        assert (padded == before).all()
    refused(ValueError, ph.Redistribution, source, target, axes=(0, 0, 1), says="not a permutation")
    refused(TypeError, ph.Redistribution, source, target, axes=(0, 0.5, 1), says="whole number")
    cells = ph.IndexMap.pull(2)
    refused(ValueError, ph.Redistribution, cells, cells, axes=(0,), says="no axes")


def test_what_is_prepared_waits_for_neighbors_alone():
    nodes = ph.IndexMap.pull(2, [2] if COMM.rank == 0 and COMM.size > 1 else [])
    x, k = np.full(nodes.size, COMM.rank + 1.0), nodes.zeros("i4", components=2)
    nodes.prepare(x, k)
    nodes.prepare_shared(x)
    if COMM.rank < 2:  # the third one leaves it out
        nodes.forward(x, k)
        nodes.sum_shared(x)
        assert x[0 if COMM.rank else -1] == (4 if COMM.size > 1 else 1)
    move = ph.Redistribution(nodes, ph.IndexMap.pull(np.arange(2) + 2 * COMM.rank))
    y = np.zeros(2)
    move.prepare((x, y))
    if COMM.rank < 2:
        move(x, y)
        assert (y == x[:2]).all()
    COMM.Barrier()


def test_a_mistake_of_one_rank_in_the_first_call_is_told_to_all():
    rows = ph.CartesianDomain((7, 5), process_grid=(COMM.size, 1))
    columns = ph.CartesianDomain((7, 5), process_grid=(1, COMM.size))
    u, v = rows.full(3.0), columns.zeros()
    redistribute = ph.Redistribution(rows, columns)
    refused(ValueError, redistribute, u, np.zeros((1, 1)) if COMM.rank == COMM.size - 1 else v, says="has shape (1, 1)")
    refused(TypeError, redistribute.back, (u, v) if COMM.rank else (u, v.astype("f4")), says="equal dtypes")
    redistribute(u, v)
    assert (v.owned == 3).all()
    blocks, dealt = ph.IndexMap.pull(2, []), ph.IndexMap.pull(np.arange(2) * COMM.size + COMM.rank, [])
    x, y = np.ones(2), np.zeros(2)
    move = ph.Redistribution(blocks, dealt)
    refused(TypeError, move, x, y if COMM.rank else y.astype("f4"), says="equal dtypes")
    move(x, y)
    assert (y == 1).all()


def test_what_was_saved_on_some_ranks_is_loaded_on_others():
    folder = tempfile.TemporaryDirectory() if COMM.rank == 0 else None
    name = COMM.bcast(folder.name if folder else None)
    saved_on = 4  # ranks, each of which has saved its cells' ids and values
    if COMM.rank == 0:
        for rank in range(saved_on):
            ids = np.arange(rank, 21, saved_on)
            np.savez(Path(name) / f"{rank}.npz", ids=ids, u=ids + 0.5)
    COMM.Barrier()
    cells = ph.IndexMap.pull(np.arange(21)[COMM.rank :: COMM.size], [])
    # Each rank reads some of the files: what it has read is the domain that values are redistributed from.
    parts = [np.load(Path(name) / f"{rank}.npz") for rank in range(COMM.rank, saved_on, COMM.size)]
    read = ph.IndexedDomain.with_owned_ids(np.concatenate([[], *(part["ids"] for part in parts)]).astype("i8"))
    u = cells.zeros()
    ph.Redistribution(read, cells)(np.concatenate([[], *(part["u"] for part in parts)]), u)
    assert (u == cells.owned_ids + 0.5).all()
    COMM.Barrier()
    if folder:
        folder.cleanup()


def test_cells_get_local_numbers_of_their_nodes():
    per_rank = 3
    first = COMM.rank * per_rank
    connectivity = np.stack([np.arange(first, first + per_rank), np.arange(first, first + per_rank) + 1], 1)  # edges of a line
    nodes, local = ph.localize(connectivity)
    assert local.shape == connectivity.shape and (ids_of(nodes)[local] == connectivity).all()
    assert nodes.owned == (per_rank + 1 if COMM.rank == 0 else per_rank)  # the lowest rank of a node has it
    owned = np.arange(first, first + per_rank + (COMM.rank == COMM.size - 1))
    nodes, local = ph.localize(np.append(connectivity.ravel(), -1), owned)
    assert (ids_of(nodes)[local[:-1]] == connectivity.ravel()).all() and local[-1] == -1
    assert nodes.ghost_ids.tolist() == ([] if COMM.rank == COMM.size - 1 else [first + per_rank])
    x = np.zeros(nodes.size)
    np.add.at(x, local[:-1], 1)
    nodes.sum_shared(x)
    ends = (ids_of(nodes) == 0) | (ids_of(nodes) == per_rank * COMM.size)
    assert (x == np.where(ends, 1, 2)).all()
    refused(ValueError, ph.localize, [[0, 10**6]], owned, says="global id")


if __name__ == "__main__":
    main(globals())

"""Index maps called with several arrays of mixed dtypes, others each time."""

import ctypes

import numpy as np
from _ranks import COMM, main, refused

import parhelion as ph

RANKS = (1, 2, 3, 4)


def ring(owned=3):
    """Each rank pulls the two cells behind its own, and the one before, twice."""
    cells = owned * COMM.size
    first = owned * COMM.rank
    return ph.IndexMap.pull(owned, [(first + owned) % cells, (first + owned + 1) % cells, (first - 1) % cells, (first - 1) % cells])


def ids_of(map):
    return np.concatenate([map.owned_ids, map.ghost_ids])


def test_arrays_of_any_dtype_and_place_travel_together():
    map = ring()
    ids = ids_of(map)
    for turn in range(6):
        a = np.full(map.size, -1.0)
        b = map.zeros("i4", components=2) if turn % 2 else np.zeros((map.size, 2), "i4")
        c, ghosts = np.zeros((2 * map.owned, 3), "c8")[::2], np.zeros((map.ghosts, 3), "c8")
        d = np.zeros(map.size, [("id", "i8"), ("name", "S3")])
        a[: map.owned] = ids[: map.owned] + turn
        b[: map.owned] = np.stack([ids, -ids], 1)[: map.owned]
        c[:] = (ids[: map.owned, None] + 1j * np.arange(3)) * (turn + 1)
        d["id"][: map.owned], d["name"][: map.owned] = ids[: map.owned], b"abc"
        map.forward(a, b, (c, ghosts), d)
        assert (a == ids + turn).all()
        assert (b == np.stack([ids, -ids], 1)).all()
        assert (ghosts == (map.ghost_ids[:, None] + 1j * np.arange(3)) * (turn + 1)).all()
        assert (d["id"] == ids).all() and (d["name"] == b"abc").all()


def test_owners_get_what_all_ghosts_hold():
    map = ring()
    ones, pairs = np.zeros(map.size), np.zeros((map.size, 2), "i8")
    ones[map.owned :], pairs[map.owned :] = 1, [1, 10]
    map.reverse("sum", ones, pairs)
    read = np.concatenate(COMM.allgather(map.ghost_ids))
    count = np.array([(read == own).sum() for own in map.owned_ids])
    assert (ones[: map.owned] == count).all() and (pairs[: map.owned] == count[:, None] * [1, 10]).all()
    flags = np.zeros(map.size, "u1")
    flags[map.owned :] = 4
    map.reverse("bit_or", flags)
    assert (flags[: map.owned] == np.where(count > 0, 4, 0)).all()


def test_ghosts_lie_among_owned_cells_of_arrays_with_and_without_levels():
    cells = 2 * COMM.size
    mine, around = np.arange(2) + 2 * COMM.rank, (np.array([-1, 2]) + 2 * COMM.rank) % cells
    ring = ph.IndexMap.pull(mine, around)
    map = ring.placed([5, 6], [4, 7], shape=(2, 4), components_axis=1)
    assert [list(each) for each in map.places] == [[5, 6], [4, 7]] and ring.places is None
    flat, levels = np.full((2, 4), -1), np.full((2, 6, 4), -1.0)[:, ::2]
    flat[1, 1:3], levels[1, :, 1:3] = mine, mine + np.arange(3)[:, None] / 4
    for _ in range(2):
        map.forward(flat, levels)
        assert (flat[1] == [around[0], *mine, around[1]]).all() and (flat[0] == -1).all()
        assert (levels[1] == flat[1] + np.arange(3)[:, None] / 4).all() and (levels[0] == -1).all()
        flat[1, [0, 3]], levels = -7, levels.copy()
    flat[:] = 1
    map.reverse("sum", flat)
    assert (flat[1, 1:3] == 2).all() and (np.delete(flat.ravel(), [5, 6]) == 1).all()
    refused(ValueError, map.forward, np.zeros((2, 5)), says="cells along a dimension")
    refused(ValueError, map.forward, flat, flat[1:], says="cells along a dimension")
    refused(ValueError, map.forward, flat, flat[::-1], says="share memory")
    refused(ValueError, map.zeros, says="has places")
    refused(ValueError, ph.Exchange, map, flat, says="has places")
    refused(ValueError, map.ragged, [1, 1], says="has places")
    refused(ValueError, ring.placed, [5, 5], [4, 7], says="two cells have the place 5")
    refused(ValueError, ring.placed, [5, 8], [4, 7], (2, 4), says="place 8 is not in an array of 8")
    refused(ValueError, ring.placed, [5, 6], [4, 7], (2, 4), 3, says="components_axis is 3")


def test_ghosts_that_count_by_a_mask():
    map = ring()
    rng = np.random.default_rng(7 + COMM.rank)
    for cells, kind in ((map, bool), (map.placed([6, 0, 3], [1, 5, 2, 4], shape=(7,)), "i4")):
        ghosts = np.arange(3, 7) if cells.places is None else cells.places[1]
        mask = np.zeros(7, kind)
        some = cells.only(mask)
        x, y = np.zeros(7), np.zeros((7, 2), "i8")
        for turn in range(8):
            mask[:] = rng.random(7) < (0, 0.5, 1)[turn % 3]
            some.update(mask)
            for a in (x, y):
                a[:] = rng.integers(0, 100, a.shape)
            right = [np.array(x), np.array(y)]
            cells.forward(*right)
            for a, b in zip(right, (x, y)):
                b[ghosts] *= -1
                a[ghosts[mask[ghosts] == 0]] = b[ghosts[mask[ghosts] == 0]]
            with some.begin_forward(x, y):
                pass
            assert (x == right[0]).all() and (y == right[1]).all()
            right = [np.array(a) for a in (x, y)]
            for a in right:
                a[ghosts[mask[ghosts] == 0]] = 0
            cells.reverse("sum", *right)
            some.begin_reverse("sum", x, y).end()
            inside = np.setdiff1d(np.arange(7), ghosts)
            assert (x[inside] == right[0][inside]).all() and (y[inside] == right[1][inside]).all()
        refused(ValueError, some.update, np.zeros(2 if COMM.rank == 0 else 7, bool), says="cells")
        for wrong in ("f8", "f2", "S2", "M8[s]"):
            refused(TypeError, some.update, np.zeros(7, wrong), says="one integer or bool")
        x[ghosts] = np.nan
        some.forward(x)
        assert (np.isnan(x[ghosts]) == (mask[ghosts] == 0)).all()  # the old mask
        some.update(np.broadcast_to(True, 7))  # read-only
        refused(TypeError, cells.only, None, says="NoneType")
        refused(TypeError, cells.only, np.ma.masked_array(mask, mask), says="mask")
        refused(TypeError, some.update, np.ma.masked_array(mask, mask), says="mask")
        refused(TypeError, some.forward, np.ma.masked_array(x, True), says="mask")
        some.update(mask)
        some.forward(x, y)
        refused(ValueError, cells.update, mask, says="not a subset")
        refused(ValueError, some.sum_shared, x, says="subset")
        refused(ValueError, some.only, mask, says="use the original map")
        refused(ValueError, some.placed, range(some.owned), range(some.owned, 7), says="use the original map")
        if cells.places is None:
            refused(ValueError, ph.Exchange, some, x, says="use the original map")
            refused(ValueError, ph.localize, [some.owned_ids[0]], some, says="use the original map")
            rows = some.ragged([2] * some.owned)  # ghost rows that do not count have no entries
            assert (rows.counts[some.owned :] == 2 * (mask[ghosts] != 0)).all()
    step = some.begin_forward(x)
    refused(ValueError, some.update, mask, says="under way")
    step.end()


def test_arrays_of_ctypes_are_used_in_place():
    other = (COMM.rank + 1) % COMM.size
    cells = ph.IndexMap.pull(3, [3 * other] if COMM.size > 1 else [])
    raw = (ctypes.c_double * cells.size)(*[COMM.rank + 1.0] * cells.size)
    cells.forward(raw)
    assert COMM.size == 1 or raw[3] == other + 1
    seen = np.ctypeslib.as_array(raw)  # its format names the byte order
    seen[:3] = 1
    seen[3:] = 5
    cells.reverse("sum", seen)
    assert raw[0] == (1 if COMM.size == 1 else 6)


def test_points_are_shared_by_lists_of_neighbors():
    if COMM.size < 3:
        return
    left, right = (COMM.rank - 1) % COMM.size, (COMM.rank + 1) % COMM.size
    nodes = ph.IndexMap.from_neighbor_lists([left, right], [[0], [2]])
    x = 10 * COMM.rank + np.arange(3)
    nodes.sum_shared(x)
    assert x.tolist() == [10 * COMM.rank + 10 * left + 2, 10 * COMM.rank + 1, 10 * COMM.rank + 2 + 10 * right]
    assert nodes.global_size == COMM.size
    sent = ph.IndexMap.from_neighbor_lists([left, right], [[], [1]], [[2], []])
    sent.forward(x)
    assert x[2] == 10 * left + 1
    refused(ValueError, ph.IndexMap.from_neighbor_lists, [left, right], [[0], [2, 1] if COMM.rank == 0 else [2]], says="equal in length")
    refused(ValueError, ph.IndexMap.from_neighbor_lists, [left, right], [[0]], says="1 lists for 2 ranks")
    far = 1 << 40 if COMM.rank == 0 else left
    refused(ValueError, ph.IndexMap.from_neighbor_lists, [far, right], [[0], [2]], says="does not exist")
    received = None if COMM.rank == 0 else [[2], []]
    refused(ValueError, ph.IndexMap.from_neighbor_lists, [left, right], [[], [1]], received, says="whether cells to receive")


def test_mistakes_are_told():
    map = ring()
    x = np.zeros(map.size)
    refused(ValueError, map.forward, says="no arrays")
    refused(ValueError, map.forward, np.zeros(map.size + 1), says="first axis")
    refused(ValueError, map.forward, x, x, says="share memory")
    refused(ValueError, map.forward, (x, x, x), says="3 parts")
    refused(ValueError, map.forward, np.zeros((map.size, 2, 3), order="F"), says="are not contiguous")
    refused(TypeError, map.forward, "text", says="NumPy")
    refused(ValueError, map.forward, np.broadcast_to(0.0, map.size), says="read-only")
    refused(TypeError, map.reverse, "min", x.astype("c16"), says="complex")
    refused(ValueError, map.reverse, "mean", x, says="mean")
    map.forward(x)


if __name__ == "__main__":
    main(globals())

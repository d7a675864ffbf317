"""Index maps called with several arrays of mixed dtypes, others each time."""

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


def test_mistakes_are_told():
    map = ring()
    x = np.zeros(map.size)
    refused(ValueError, map.forward, says="no arrays")
    refused(ValueError, map.forward, np.zeros(map.size + 1), says="first axis")
    refused(ValueError, map.forward, x, x, says="share memory")
    refused(ValueError, map.forward, (x, x, x), says="3 parts")
    refused(ValueError, map.forward, np.zeros((map.size, 2, 3), order="F"), says="next to each other")
    refused(TypeError, map.forward, "text", says="NumPy")
    refused(ValueError, map.forward, np.broadcast_to(0.0, map.size), says="read-only")
    refused(TypeError, map.reverse, "min", x.astype("c16"), says="complex")
    refused(ValueError, map.reverse, "mean", x, says="mean")
    map.forward(x)


if __name__ == "__main__":
    main(globals())

"""Rows that go to other ranks."""

import numpy as np
from _ranks import COMM, main, refused, seeds

import parhelion as ph

RANKS = (1, 2, 3)
PARTICLE = np.dtype([("x", "f4", 3), ("name", "S3")])


def sent(seed, rank):
    """Ranks, ids, and particles of a rank in a case: each rank knows those of all."""
    random = np.random.default_rng([seed, rank])
    rows = random.choice([0, 1, 7, 300])
    to, ids = random.integers(-1, COMM.size, rows), random.integers(0, 1 << 40, rows)
    particles = np.zeros(rows, PARTICLE)
    particles["x"], particles["name"] = random.random((rows, 3)), b"abc"
    return to, ids, particles


def test_rows_arrive_by_sender_and_in_its_order():
    migrate = ph.Migration()
    for seed in seeds(60):
        everybody = [sent(seed, rank) for rank in range(COMM.size)]
        to, ids, particles = everybody[COMM.rank]
        pairs = np.stack([ids, -ids, ids], 1)[:, ::2]
        pairs.flags.writeable = False
        came, others, their_pairs = migrate(to, ids, particles, pairs)
        expected = [ids[to == COMM.rank] for to, ids, _ in everybody]
        assert (came == np.concatenate(expected)).all()
        assert (others == np.concatenate([rows[to == COMM.rank] for to, _, rows in everybody])).all()
        assert (their_pairs == np.stack([came, came], 1)).all()
        assert (migrate.sources == np.repeat(np.arange(COMM.size), [len(rows) for rows in expected])).all()
        back = migrate(migrate.sources, came)
        assert (back == np.concatenate([ids[to == rank] for rank in range(COMM.size)])).all()


def test_arrays_that_came_are_ones_own():
    migrate = ph.Migration()
    x = np.full(3, COMM.rank)
    first = migrate([0, 0, -1], x)
    second = migrate(np.full(len(first), COMM.size - 1), first)
    assert (first == np.repeat(np.arange(COMM.size), 2)[: len(first)]).all() and len(first) == (COMM.rank == 0) * 2 * COMM.size
    assert len(second) == (COMM.rank == COMM.size - 1) * 2 * COMM.size
    times = migrate([0], np.array(["2020-01-01"], "M8[D]"))
    assert (times == np.datetime64("2020-01-01")).all() and len(times) == (COMM.rank == 0) * COMM.size


def test_mistakes_are_told_on_every_rank():
    migrate = ph.Migration()
    x, last = np.zeros((2, 3)), COMM.rank == COMM.size - 1
    refused(ValueError, migrate, [0, COMM.size if last else 0], x, says="row 1 goes to rank")
    refused(ValueError, migrate, [0, -2 if last else 0], x, says="-1 for a row that is dropped")
    refused(ValueError, migrate, [0, 0], x[:1] if last else x, says="one rank for each row")
    refused(TypeError, migrate, [0.5, 0], x, says="whole numbers")
    refused(ValueError, migrate, [0, 0], says="no arrays")
    refused(TypeError, migrate, [0], np.array([None]), says="objects")
    refused(TypeError, migrate, [0, 0], np.ma.masked_array(x, last), says="mask")
    refused(ValueError, migrate, [0, 0], x[:, :0], says="no components")
    if COMM.size > 1:
        refused(ValueError, migrate, [0, 0], x.astype("f4") if last else x, says="differ between ranks")
        refused(ValueError, migrate, [0, 0], x.astype(">f8") if last else x.view("V8"), says="list of elements is")
        refused(ValueError, migrate, [0, 0], *([x] if last else [x, x]), says="number of arrays")
        pairs = np.zeros((2, 2, 3))
        refused(ValueError, migrate, [0, 0], pairs.reshape(2, 3, 2) if last else pairs, says="[3, 2]")
        refused(ValueError, migrate, [0, 0], pairs.reshape(2, 6) if last else pairs, says="[6]")
    assert len(migrate([0, 0], x)) == (COMM.rank == 0) * 2 * COMM.size


if __name__ == "__main__":
    main(globals())

"""Arrays of several domains in one exchange: every ghost against the formula, one message per neighbor, mistakes."""

import numpy as np
from _oracle import DTYPES, grid_sample, index_sample, memory_for
from _ranks import COMM, main, on_last, refused, usable_transports

import parhelion as ph

RANKS = (1, 2, 3, 4)


def grids():
    """Cells, and the faces across the first dimension, of which the last rank has one more."""
    parts = [3] * COMM.size
    cells = ph.CartesianDomain((sum(parts), 4), halo=1, process_grid=(COMM.size, 1), splits=(parts, None))
    faces = ph.CartesianDomain((sum(parts) + 1, 4), halo=2, process_grid=(COMM.size, 1), splits=([*parts[:-1], 4], None))
    return cells, faces


def ring(apart):
    """Four cells a rank, of which the rank `apart` before reads the first; and all their ids."""
    first, other = 4 * COMM.rank, (COMM.rank + apart) % COMM.size
    ghosts = [4 * other] if other != COMM.rank else []
    return ph.IndexedDomain(4, ghosts), [*range(first, first + 4), *ghosts]


def samples_of(domain, ids, number):
    kinds = (DTYPES[number % len(DTYPES)], np.dtype("float64"))
    if isinstance(domain, ph.IndexedDomain):
        return [index_sample(ids, slice(0, domain.owned), kind, (2,), field=number + n) for n, kind in enumerate(kinds)]
    return [grid_sample(domain, 0, domain.halo, kind, (2,), field=number + n) for n, kind in enumerate(kinds)]


def test_ghosts_of_all_groups_are_right_over_every_transport():
    cells, faces = grids()
    sources = [(cells, None), ring(1), (faces, None), ring(2)]
    for transport in usable_transports():
        with memory_for(transport):
            groups = [(domain, samples_of(domain, ids, n)) for n, (domain, ids) in enumerate(sources)]
            exchange = ph.Exchange(
                [(domain, *[sample.view for sample in samples]) for domain, samples in groups], transport=transport
            )
            exchange()
            exchange()
            for _, samples in groups:
                for sample in samples:
                    sample.check(transport)


def test_a_neighbor_of_several_groups_gets_one_message():
    (nodes, _), (cells, faces) = ring(1), grids()
    x, u, v = np.zeros(nodes.size), cells.zeros(), faces.zeros(components=2)
    together = ph.Exchange([(cells, u), (nodes, x), (faces, v)])
    neighbors = {*range(COMM.rank - 1, COMM.rank + 2)} & {*range(COMM.size)} - {COMM.rank}
    assert together.messages_sent() == len(neighbors | ({(COMM.rank - 1) % COMM.size} - {COMM.rank}))
    assert together.arrays == (u, x, v) and len(together.patterns) == 3 and together.pattern is together.patterns[0]


def test_each_call_may_name_arrays_of_all_groups_over_every_transport():
    (nodes, ids), (cells, faces) = ring(1), grids()
    sources = [(cells, None), (nodes, ids), (faces, None)]
    for transport in usable_transports():
        with memory_for(transport):
            levels = [[samples_of(domain, known, n) for n, (domain, known) in enumerate(sources)] for _ in range(4)]
            made_with = [(domain, *[each.view for each in samples]) for (domain, _), samples in zip(sources, levels[0])]
            exchange = ph.Exchange(made_with, transport=transport)
            for turn, level in enumerate((levels[1], levels[2], levels[0])):
                named = [sample for samples in level for sample in samples]
                if turn == 1:
                    exchange.begin(*[sample.view for sample in named]).end()
                else:
                    exchange(*[sample.view for sample in named])
                for sample in named:
                    sample.check(f"{transport}, turn {turn}")


def test_arrays_in_parts_and_components_apart_are_named_at_the_call():
    cells, faces = grids()
    nodes, ids = ring(1)
    pair = np.zeros((4, 2)), np.zeros((len(ids) - 4, 2))
    apart = np.zeros((2, 2, *np.array(cells.zeros().shape))).transpose(2, 3, 1, 0)[..., :1, :]
    exchange = ph.Exchange([(nodes, pair), (cells, apart), (faces, faces.zeros())])
    owned, read = np.tile(np.array(ids[:4], "f8")[:, None], 2), np.full_like(pair[1], -1)
    other = np.full((2, 2, *np.array(cells.zeros().shape)), float(COMM.rank)).transpose(2, 3, 1, 0)[..., :1, :]
    v = faces.zeros()
    v[:] = COMM.rank + 10
    exchange((owned, read), other, v)
    assert (read[:, 1] == ids[4:]).all() and (pair[1] == 0).all()
    if COMM.rank > 0:
        assert (other[0, 1:-1] == COMM.rank - 1).all() and (v[:2, 2:-2] == COMM.rank + 9).all()
    assert (apart == 0).all()
    refused(ValueError, exchange, (owned, read), other, says="2 arrays were passed, but the exchange needs 3")
    refused(ValueError, exchange, other, (owned, read), v, says="array 0")
    refused(ValueError, exchange, (owned, read), other, v[1:], says="array 2 has shape")


def test_a_reverse_sum_takes_arrays_of_all_groups():
    (near, _), (far, _) = ring(1), ring(2)
    exchange = ph.Exchange([(near, np.zeros(near.size)), (far, np.zeros(far.size))])
    x, y = np.ones(near.size), np.full(far.size, 10.0)
    exchange.reverse("sum", x, y)
    assert x[0] == (2 if COMM.size > 1 else 1) and y[0] == (20 if COMM.size > 2 else 10)


def test_components_split_off_belong_to_their_group():
    cells, faces = grids()
    apart = np.full((2, 2, *np.array(cells.zeros().shape)), float(COMM.rank)).transpose(2, 3, 1, 0)[..., :1, :]
    v = faces.zeros()
    v[:] = COMM.rank
    ph.Exchange([(cells, apart), (ph.build_pattern(faces), v)])()
    if COMM.rank > 0:
        assert (apart[0, 1:-1] == COMM.rank - 1).all() and (v[:2, 2:-2] == COMM.rank - 1).all()


def test_a_reverse_sum_counts_each_group_by_itself():
    (near, _), (far, _) = ring(1), ring(2)
    x, y = np.ones(near.size), np.full(far.size, 10.0)
    ph.Exchange([(near, x), (far, y)]).reverse("sum")
    assert x[0] == (2 if COMM.size > 1 else 1) and y[0] == (20 if COMM.size > 2 else 10)


def test_wrong_groups_are_refused():
    (cells, _), (nodes, _) = grids(), ring(1)
    u, x = cells.zeros(), np.zeros(nodes.size)
    refused(TypeError, ph.Exchange, [(cells, u)], x, says="one list of tuples")
    refused(TypeError, ph.Exchange, [], says="one list of tuples")
    refused(TypeError, ph.Exchange, [cells, u], says="one list of tuples")
    refused(TypeError, ph.Exchange, [(u, cells)], says="has no pattern")
    refused(ValueError, ph.Exchange, [(cells, u), (nodes,)], says="no arrays of group 1 were passed")
    refused(ValueError, ph.Exchange, [(cells, u), (nodes, on_last(x[:3], x))], says="array 0 of group 1 has shape")
    refused(ValueError, ph.Exchange, [(cells, u), (cells, u)], says="field 0 of group 0 and field 0 of group 1 share memory")
    if COMM.size > 1:
        refused(TypeError, ph.Exchange, [(cells, u), on_last((x, nodes), (nodes, x))], says="has no pattern")
        refused(ValueError, ph.Exchange, on_last([(cells, u)], [(cells, u), (nodes, x)]), says="their number")
        alone = ph.IndexedDomain(4, [], comm=COMM.Split(COMM.rank))
        refused(ValueError, ph.Exchange, [(cells, u), (alone, np.zeros(4))], says="another communicator")


if __name__ == "__main__":
    main(globals())

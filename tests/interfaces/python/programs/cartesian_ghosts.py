"""Every ghost of Cartesian arrays against the formula."""

import random

import numpy as np
from _oracle import DTYPES, combinations, grid_sample, memory_for
from _ranks import COMM, main, seeds, usable_transports

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)
SIDES = ((1, 2), (2, 0), (1, 1))


def test_ghosts_are_right_for_every_dtype_order_component_count_and_stride():
    domain = ph.CartesianDomain((7, 5, 6), halo=SIDES, periodic=(True, False, True))
    for order, components, layout in combinations():
        samples = [grid_sample(domain, 0, SIDES, kind, components, order, layout, n) for n, kind in enumerate(DTYPES)]
        ph.Exchange(domain, *[sample.view for sample in samples])()
        for sample, kind in zip(samples, DTYPES):
            sample.check(f"{kind}, {order}, components {components}, {layout}")


def test_ghosts_are_right_for_random_domains_and_fields_over_every_transport():
    for seed in seeds(24):
        for transport in usable_transports():
            try:
                with memory_for(transport):
                    check_random_case(random.Random(seed), transport)
            except BaseException as error:
                error.add_note(f"seed {seed}, transport {transport}")
                raise


def check_random_case(rng, transport):
    domain = ph.CartesianDomain(**random_domain(rng))
    fields = []
    for number in range(rng.randint(1, 4)):
        sides = tuple((rng.randint(0, lower), rng.randint(0, upper)) for lower, upper in domain.halo)
        kind, components = rng.choice(DTYPES), rng.choice([(), (3,)])
        samples = [grid_sample(domain, b, sides, kind, components, "C", "plain", number) for b in range(len(domain.blocks))]
        fields.append((sides, samples))
    told = [ph.Field([sample.view for sample in samples], sides) for sides, samples in fields]
    exchange = ph.Exchange(domain, *told, transport=transport)
    for _ in range(2):
        exchange()
    for _, samples in fields:
        for sample in samples:
            sample.check(repr(domain))


def random_domain(rng):
    dimensions = rng.randint(1, 4)
    periodic = [rng.random() < 0.5 for _ in range(dimensions)]
    extents = [rng.randint(1, 9 if dimensions < 4 else 5) for _ in range(dimensions)]
    arguments = {"extents": extents, "periodic": periodic, "neighbors": rng.choice(["full", "full", "faces"])}
    arguments["halo"] = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in extents]
    if rng.random() < 0.5:
        arguments["process_grid"] = grid = random_grid(rng, dimensions)
        arguments["splits"] = [random_split(rng, extent, ranks) for extent, ranks in zip(extents, grid)]
    if rng.random() < 0.4:
        arguments["blocks_per_rank"] = [rng.randint(1, 2) for _ in extents]
    if arguments["neighbors"] == "full" and rng.random() < 0.4:
        arguments["algorithm"] = "by_dimension"
    return arguments


def random_grid(rng, dimensions):
    grid, rest = [1] * dimensions, COMM.size
    while rest > 1:
        factor = next(f for f in range(2, rest + 1) if rest % f == 0)
        grid[rng.randrange(dimensions)] *= factor
        rest //= factor
    return grid


def random_split(rng, extent, ranks):
    """Parts may be empty; None is an even split."""
    cuts = sorted(rng.randint(0, extent) for _ in range(ranks - 1))
    return rng.choice([None, [b - a for a, b in zip([0, *cuts], [*cuts, extent])]])


def test_arrays_of_the_domain_know_their_halo_and_are_filled():
    domain = ph.CartesianDomain((9, 8), halo=2, periodic=True)
    u, v = domain.zeros("int32"), domain.full(-1.0, "float64", components=2, order="F", halo=1)
    assert v.flags.f_contiguous and v.shape == (*domain.array_shape(halo=1), 2)
    x, y = domain.global_indices()
    u.owned[:] = 100 * x + y
    v.owned[..., 0], v.owned[..., 1] = x, y
    ph.Exchange(domain, u, v)()
    wide = [np.arange(part.start - 2, part.stop + 2) % extent for part, extent in zip(domain.owned, domain.extents)]
    assert (u == 100 * wide[0][:, None] + wide[1]).all()
    assert (v[..., 0] == wide[0][1:-1, None]).all() and (v[..., 1] == wide[1][1:-1]).all()


def test_a_narrower_halo_is_found_from_the_shape():
    domain = ph.CartesianDomain((8, 9), halo=(2, 3), periodic=True)
    sample = grid_sample(domain, 0, ((1, 1), (2, 2)), np.dtype("float32"))
    ph.Exchange(domain, sample.view)()
    sample.check("inferred halo")


def test_a_communicator_that_is_a_part_of_the_world_works():
    part = COMM.Split(COMM.rank % 2, COMM.rank)
    domain = ph.CartesianDomain((5, 4), halo=1, periodic=True, comm=part)
    assert domain.comm is part
    sample = grid_sample(domain, 0, domain.halo, np.dtype("int16"), field=COMM.rank % 2)
    ph.Exchange(domain, sample.view)()
    sample.check("half of the world")


if __name__ == "__main__":
    main(globals())

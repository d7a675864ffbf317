"""Every ghost of indexed arrays against the formula, and the numbering of indexed domains."""

import random

import numpy as np
from _oracle import DTYPES, combinations, index_sample, memory_for
from _ranks import COMM, main, seeds, usable_transports

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)


def block_domain(seed, self_ghosts=False):
    """Blocks of 0 to 9 ids; ghosts in any order, some twice. Returns the domain and all ids of this rank."""
    counts = [random.Random(f"{seed} {rank}").randint(0, 9) for rank in range(COMM.size)]
    first, count, total = sum(counts[: COMM.rank]), counts[COMM.rank], sum(counts)
    allowed = [i for i in range(total) if self_ghosts or not first <= i < first + count]
    rng = random.Random(f"{seed} ghosts {COMM.rank}")
    ghosts = rng.choices(allowed, k=rng.randint(0, 12)) if allowed else []
    domain = ph.IndexedDomain(count, ghosts, self_ghosts=self_ghosts)
    return domain, [*range(first, first + count), *ghosts]


def scattered_domain(seed):
    """Ids with gaps, dealt out at random."""
    rng = random.Random(f"{seed} all")
    ids = rng.sample(range(400), 60)
    owners = [rng.randrange(COMM.size) for _ in ids]
    mine = [i for i, owner in zip(ids, owners) if owner == COMM.rank]
    others = [i for i, owner in zip(ids, owners) if owner != COMM.rank]
    mix = random.Random(f"{seed} {COMM.rank}")
    ghosts = mix.choices(others, k=15) if others else []
    return ph.IndexedDomain.with_owned_ids(mine, ghosts), [*mine, *ghosts], dict(zip(ids, owners))


def check_exchange(domain, ids, transport=None):
    samples = [index_sample(ids, slice(0, domain.owned), kind, (), field=n) for n, kind in enumerate(DTYPES)]
    ph.Exchange(domain, *[sample.view for sample in samples], transport=transport)()
    for sample, kind in zip(samples, DTYPES):
        sample.check(f"{kind} over {transport}")


def test_ghosts_are_right_for_random_maps_over_every_transport():
    for seed in seeds(8):
        maps = [block_domain(seed), block_domain(seed, self_ghosts=True), scattered_domain(seed)[:2]]
        for transport in usable_transports():
            with memory_for(transport):
                for domain, ids in maps:
                    check_exchange(domain, ids, transport)


def test_ghosts_are_right_for_every_order_component_count_and_stride():
    domain, ids = block_domain(3)
    for order, components, layout in combinations():
        samples = [index_sample(ids, slice(0, domain.owned), kind, components, order, layout, n) for n, kind in enumerate(DTYPES)]
        ph.Exchange(domain, *[sample.view for sample in samples])()
        for sample, kind in zip(samples, DTYPES):
            sample.check(f"{kind}, {order}, components {components}, {layout}")


def test_owned_cells_and_ghosts_may_be_two_arrays():
    domain, ids = block_domain(5)
    owned = index_sample(ids[: domain.owned], slice(None), np.dtype("float64"), (3,))
    ghosts = index_sample(ids[domain.owned :], slice(0, 0), np.dtype("float64"), (3,))
    ph.Exchange(domain, (owned.view, ghosts.view))()
    owned.check("owned")
    ghosts.check("ghosts")


def test_arrays_of_the_domain_are_filled_and_know_their_ghosts():
    domain, _ = block_domain(7)
    x = domain.zeros("int64", components=2)
    assert x.owned.shape == (domain.owned, 2) and x.ghosts.shape == (domain.ghosts, 2)
    x.owned[:] = domain.global_of(np.arange(domain.owned))[:, None] * [1, 10]
    ph.Exchange(domain, x)()
    assert (x.ghosts == domain.ghost_ids[:, None] * [1, 10]).all()


def test_numbering_goes_both_ways():
    domain, ids, owner_of = scattered_domain(11)
    assert domain.first is None and domain.global_size == 60 and domain.size == len(ids)
    assert domain.global_of(np.arange(domain.size)).tolist() == ids
    assert domain.local_of(ids).tolist() == [ids.index(i) for i in ids]
    assert domain.local_of([[401, -1]]).tolist() == [[-1, -1]]
    assert domain.ghost_ids.tolist() == ids[domain.owned :]
    assert domain.ghost_owners.tolist() == [owner_of[i] for i in ids[domain.owned :]]
    asked = list(owner_of)[COMM.rank :: 2]
    assert domain.owners_of(asked).tolist() == [owner_of[i] for i in asked]
    assert int(domain.local_of(ids[0])) == 0 if ids else True


def test_blocks_are_numbered_in_rank_order():
    domain, ids = block_domain(13)
    assert domain.first == sum(COMM.allgather(domain.owned)[: COMM.rank])
    assert domain.global_size == COMM.allreduce(domain.owned)
    assert domain.global_of(np.arange(domain.size)).tolist() == ids


if __name__ == "__main__":
    main(globals())

"""200 random instances: always a bijection, never worse than blocked nor than any member of the portfolio."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "support"))

from placement_counting import count, count_between

from parhelion.placement import BetweenNodes, Machine, NodeMessages, Parameters, Stencil, place
from parhelion.place.traffic import Exchange, traffic

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


def random_grid(rng):
    """1 to 4 dimensions, about half of the extents prime, at most some 600 points."""
    most = (150, 24, 9, 5)[(dimensions := rng.randint(1, 4)) - 1]
    choices = [p for p in PRIMES if p <= most]
    return tuple(rng.choice(choices) if rng.random() < 0.5 else rng.randint(1, most) for _ in range(dimensions))


def random_ranks(rng, points):
    """Ranks per node: equal, nearly equal, or anything that adds up."""
    nodes = rng.randint(1, min(points, 12))
    kind = rng.choice(["even", "ragged", "wild"])
    if kind == "even":
        while points % nodes:
            nodes -= 1
        return [points // nodes] * nodes
    if kind == "ragged":
        return [points // nodes + (n < points % nodes) for n in range(nodes)]
    cuts = sorted(rng.sample(range(1, points), nodes - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, points], strict=True)]


def random_stencil(rng, dimensions):
    """Faces, full, or a handful of offsets with up to three steps."""
    kind = rng.choice(["faces", "full", "offsets"])
    if kind != "offsets":
        return getattr(Stencil, kind)(dimensions)
    offsets = set()
    while len(offsets) < min(4, 2 * dimensions):
        offset = tuple(rng.randint(-3, 3) for _ in range(dimensions))
        if any(offset):
            offsets.add(offset)
    return Stencil.of(sorted(offsets))


@pytest.mark.parametrize("seed", range(200))
@pytest.mark.long
def test_no_member_beats_the_automatic_choice_and_every_rank_has_one_place(seed):
    rng = random.Random(seed)
    grid = random_grid(rng)
    ranks = random_ranks(rng, int(np.prod(grid)))
    stencil = random_stencil(rng, len(grid))
    periodic = [rng.random() < 0.4 for _ in grid]
    objective = rng.choice(["jsum", "jmax"])
    print(f"seed {seed}: grid {grid}, ranks per node {ranks}, periodic {periodic}, {objective}, {stencil.offsets}")
    placement = place(grid, Machine(f"node:{len(ranks)}", ranks_per_node=ranks), stencil, periodic, objective)

    assert sorted(placement.positions.ravel().tolist()) == list(range(int(np.prod(grid))))
    assert np.bincount(placement.units("node").ravel(), minlength=len(ranks)).tolist() == ranks
    for position in range(0, placement.machine.size, 7):
        assert placement.position(placement.point(position)) == position
    own = placement.scores["node"]
    assert (own.jsum, own.jmax) == count(placement.units("node"), list(stencil.offsets), periodic)
    assert placement.members[0].name == "blocked"
    for member in placement.members:
        if not member.reason:
            assert getattr(own, objective) <= getattr(member.scores["node"], objective), member.name


@pytest.mark.parametrize("seed", range(40))
def test_on_machines_with_several_levels_the_outermost_difference_decides(seed):
    rng = random.Random(1000 + seed)
    grid = random_grid(rng)
    ranks = random_ranks(rng, int(np.prod(grid)))
    machine = Machine(f"node:{len(ranks)} pack:2 l3:{rng.randint(1, 3)} core:{rng.randint(1, 4)}", ranks_per_node=ranks)
    print(f"seed {seed}: grid {grid}, {machine.topology}, ranks per node {ranks}")
    placement = place(grid, machine, "full", rng.random() < 0.5)
    assert sorted(placement.positions.ravel().tolist()) == list(range(int(np.prod(grid))))

    def key(scores):
        return [value for level in machine.levels for value in (scores[level].jsum, scores[level].jmax)]

    for member in placement.members:
        if not member.reason:
            assert key(placement.scores) <= key(member.scores), member.name


@pytest.mark.parametrize("seed", range(40))
def test_messages_and_bytes_between_nodes_are_those_of_a_count_cell_by_cell(seed):
    rng = random.Random(3000 + seed)
    grid = tuple(rng.randint(1, (40, 8, 4, 3)[rng.randint(0, 3)]) for _ in range(rng.randint(1, 4)))
    ranks = random_ranks(rng, int(np.prod(grid)))
    cells, halo, width = [rng.randint(1, 4) for _ in grid], rng.randint(1, 3), rng.choice([1, 8, 100_000])
    stencil = random_stencil(rng, len(grid)).with_halo(cells, halo, width)
    periodic = [rng.random() < 0.4 for _ in grid]
    print(f"seed {seed}: grid {grid}, ranks per node {ranks}, periodic {periodic}, cells {cells}, halo {halo} of {width} B, {stencil.offsets}")
    placement = place(grid, Machine(f"node:{len(ranks)}", ranks_per_node=ranks), stencil, periodic, refine=rng.random() < 0.5)
    for blocked in (False, True):
        nodes = np.repeat(np.arange(len(ranks)), ranks).reshape(grid) if blocked else placement.units("node")
        expected = {
            (*key, pairs, sent * width, min(max(1, once * width // 65536), senders), once * width)
            for key, (pairs, sent, senders, once) in count_between(nodes, stencil.offsets, periodic, cells, halo).items()
        }
        found = placement.node_pairs(blocked)
        assert {tuple(row) for row in found.tolist()} == expected
    columns = [[row[2:] for row in expected if row[0] == node] for node in range(len(ranks))]
    sums = np.array([np.sum(rows, axis=0) if rows else np.zeros(4, int) for rows in columns])
    (pairs, sent, messages, once), most = sums.sum(0).tolist(), sums.max(0).tolist()
    assert BetweenNodes.of(found) == BetweenNodes(NodeMessages(pairs, sent, most[0], most[1]), NodeMessages(messages, once, most[2], most[3]))


@pytest.mark.parametrize("seed", range(30))
def test_with_figures_the_time_that_the_model_predicts_decides(seed):
    rng = random.Random(5000 + seed)
    grid = tuple(rng.randint(2, 6) for _ in range(3))
    ranks = random_ranks(rng, int(np.prod(grid)))
    machine = Machine(f"node:{len(ranks)} pack:2 numa:2 core:4", ranks_per_node=ranks)
    exchange = Exchange(tuple(rng.randint(2, 40) for _ in grid), 2, rng.choice([1, 8]), 8, "node_aware")
    figures = Parameters("any", {"node": rng.random() * 1e-4, "core": rng.random() * 1e-6, "pack": 1e-7}, {"node": 1e9, "numa": 1e10}, 1e10 * rng.random(), 1e-6)
    periodic = [rng.random() < 0.5 for _ in grid]
    print(f"seed {seed}: grid {grid}, ranks per node {ranks}, periodic {periodic}, {exchange}, {figures}")
    placed = place(grid, machine, exchange.stencil(), periodic, parameters=figures)
    assert placed.seconds == pytest.approx(figures.predict(traffic(placed, exchange, periodic)))
    assert all(placed.seconds <= member.seconds for member in placed.members if not member.reason)
    for member in placed.members:
        if not member.reason:
            alone = place(grid, machine, exchange.stencil(), periodic, method=member.name)
            assert member.seconds == pytest.approx(figures.predict(traffic(alone, exchange, periodic)))
    assert alone.seconds is None

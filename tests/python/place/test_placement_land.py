"""`parhelion place --mask`: ranks that a process grid needs, grids for a number of ranks, and the placement of those that are wet."""

from itertools import product

import numpy as np
import pytest
from placing import document, place

from parhelion.placement import PlacementError, Stencil, land_grid, land_grids

CELLS = (60, 40)
x, y = np.ogrid[:60, :40]
OCEAN = ((x - 20) ** 2 + (y - 20) ** 2 < 300) | ((x - 45) ** 2 + (y - 10) ** 2 < 100)


@pytest.fixture
def mask(tmp_path):
    np.save(tmp_path / "mask.npy", OCEAN)
    return tmp_path / "mask.npy"


def wet_places(grid):
    parts = [np.array_split(np.arange(cells), count) for cells, count in zip(CELLS, grid, strict=True)]
    return np.array([OCEAN[np.ix_(*cells)].any() for cells in product(*parts)]).reshape(grid)


@pytest.mark.parametrize("grid", [(1, 1), (6, 4), (7, 5), (60, 40), (13, 1)])
def test_places_with_a_wet_cell_have_a_rank(grid):
    found = land_grid(OCEAN, grid, halo=2)
    assert (found.wet == wet_places(grid)).all()
    assert found.ranks == wet_places(grid).sum()
    assert land_grid(OCEAN.astype(float), grid, cells=CELLS).ranks == found.ranks
    assert land_grid(OCEAN[None], (2, *grid), cells=(3, *CELLS)).ranks == 2 * found.ranks


@pytest.mark.parametrize("ranks", [1, 5, 12, 40, 200])
def test_every_grid_that_is_listed_has_as_many_wet_places_as_ranks(ranks):
    grids = land_grids(OCEAN, ranks)
    assert all(each.ranks == ranks == wet_places(each.grid).sum() for each in grids)
    assert [each.halo for each in grids] == sorted(each.halo for each in grids)


def test_edges_are_those_between_wet_places():
    grid = land_grid(OCEAN, (6, 4))
    wet = wet_places((6, 4))
    numbers = np.cumsum(wet).reshape(wet.shape) - 1
    edges = grid.edges(Stencil.parse("full", 2), [True, False], 2, 8)
    expected = [{} for _ in range(grid.ranks)]
    for i, j in np.argwhere(wet):
        for a, b in product((-1, 0, 1), repeat=2):
            there = (i + a) % 6, j + b
            if (a or b) and 0 <= there[1] < 4 and wet[there]:
                size = 8 * (2 if a else 10) * (2 if b else 10)
                into = expected[numbers[i, j]]
                into[int(numbers[there])] = into.get(int(numbers[there]), 0) + size
    assert edges == expected


def test_tiles_have_no_halo_between_them():
    tiles = np.stack([OCEAN, ~OCEAN])
    found = land_grid(tiles, (2, 6, 4), 2, tile_axis=0)
    apart = [land_grid(tile, (6, 4), 2) for tile in tiles]
    assert (found.halo, found.ranks) == (apart[0].halo, sum(each.ranks for each in apart))
    expected = []
    for each in apart:
        first = len(expected)
        expected += [{first + other: size for other, size in sent.items()} for sent in each.edges(Stencil.parse("full", 2), [False] * 2, 2, 8)]
    assert found.edges(Stencil.parse("full", 3), [False] * 3, 2, 8) == expected
    listed = land_grids(tiles, 8, 2, tile_axis=0)
    assert listed and all(each.ranks == 8 for each in listed)
    assert listed[0].halo == min(each.halo for each in listed) <= land_grids(tiles, 8, 2)[0].halo


@pytest.mark.parametrize("kind", ["faces", "full"])
@pytest.mark.parametrize(("fold", "periodic"), [([1], [True, False]), ([1, 0], [False, False]), ([0], [False, True])])
def test_edges_cross_a_fold(kind, fold, periodic):
    parts, halo = (6, 4), 2
    grid, n = land_grid(OCEAN | (x > 40), parts, fold=fold), CELLS
    axis, mirrored = grid.fold
    numbers = np.full(parts, -1)
    numbers[grid.wet] = np.arange(grid.ranks)
    expected = [{} for _ in range(grid.ranks)]
    for block in np.argwhere(grid.wet):  # each ghost of each block, by cells
        first, end = ([cells // count * (i + more) for cells, count, i in zip(n, parts, block, strict=True)] for more in (0, 1))
        for at in product(*(range(low - halo, high + halo) for low, high in zip(first, end, strict=True))):
            beyond = sum(not low <= i < high for i, low, high in zip(at, first, end, strict=True))
            there = list(at)
            if at[axis] >= n[axis]:
                there[axis], there[mirrored] = 2 * n[axis] - 1 - at[axis], n[mirrored] - 1 - at[mirrored]
            there = [i % cells if wraps else i for i, cells, wraps in zip(there, n, periodic, strict=True)]
            if not 1 <= beyond <= (1 if kind == "faces" else 2) or not all(0 <= i < cells for i, cells in zip(there, n, strict=True)):
                continue
            owner, reader = numbers[tuple(i * count // cells for i, cells, count in zip(there, n, parts, strict=True))], numbers[tuple(block)]
            if owner not in (-1, reader):
                expected[owner][int(reader)] = expected[owner].get(int(reader), 0) + 8
    assert grid.edges(Stencil.parse(kind, 2), periodic, halo, 8) == expected


def test_the_command_places_by_the_traffic_across_a_fold(tmp_path):
    np.save(tmp_path / "wet.npy", np.ones(CELLS))
    given = "--mask", tmp_path / "wet.npy", "--grid", "4x2", "--periodic", "yes,no", "--nodes", 2, "--ranks-per-node", 4
    folded, plain = document(*given, "--fold", 1), document(*given)
    edges = land_grid(np.ones(CELLS), (4, 2), fold=[1]).edges(Stencil.parse("faces", 2), [True, False], 1, 8)
    nodes = folded["node_of_rank"]
    leaving = sum(size for rank, sent in enumerate(edges) for other, size in sent.items() if nodes[rank] != nodes[other])
    assert folded["scores"]["automatic"]["node"]["jsum_bytes"] == leaving == sum(each["bytes_in_pairs"] for each in folded["node_pairs"])
    assert plain["scores"]["blocked"]["node"]["jsum_bytes"] < folded["scores"]["blocked"]["node"]["jsum_bytes"]
    assert "--fold is for a grid with land" in " ".join(place("--grid", "4x2", "--nodes", 2, "--fold", 1).output.split())


def test_the_command_tells_how_many_ranks_a_grid_needs(mask):
    made = document("--mask", mask, "--grid", "6x4")
    wet = wet_places((6, 4))
    land = 1 - OCEAN.mean()
    dropped = (~wet).sum() * 100 / OCEAN.size / land
    assert made["grids"] == [{"grid": [6, 4], "places": 24, "ranks": wet.sum(), "land_dropped": pytest.approx(dropped), "halo_cells": 40}]
    assert f"{wet.sum()}" in place("--mask", mask, "--grid", "6x4").output


def test_the_command_lists_grids_for_a_number_of_ranks(mask):
    made = document("--mask", mask, "--ranks", 12)
    assert made["grids"]
    assert all(each["ranks"] == 12 for each in made["grids"])


def test_only_traffic_between_wet_places_is_placed(mask, tmp_path):
    ranks = int(wet_places((6, 4)).sum())
    made = document("--mask", mask, "--grid", "6x4", "--nodes", 2, "--ranks-per-node", f"{ranks // 2},{ranks - ranks // 2}", "--rank-file", f"slurm:{tmp_path / 'hosts'}")
    edges = land_grid(OCEAN, (6, 4)).edges(Stencil.parse("faces", 2), [False] * 2, 1, 8)
    nodes = made["node_of_rank"]
    leaving = sum(size for rank, sent in enumerate(edges) for other, size in sent.items() if nodes[rank] != nodes[other])
    own = made["scores"]["automatic"]["node"]
    assert own["jsum_bytes"] == leaving
    assert own["jsum_bytes"] <= made["scores"]["blocked"]["node"]["jsum_bytes"]
    assert sum(each["bytes_in_pairs"] for each in made["node_pairs"]) == leaving
    assert (made["grid"], made["ranks"]) == ([6, 4], ranks)
    assert "with land" in place("--mask", mask, "--nodes", 2, "--ranks-per-node", 6).output
    strips = document("--mask", mask, "--grid", "6x1", "--tile-axis", 0, "--nodes", 2, "--ranks-per-node", "3")
    assert strips["node_pairs"] == [] and strips["scores"]["automatic"]["node"]["jsum_bytes"] == 0


@pytest.mark.parametrize(("arguments", "says"), [
    (["--grid", "6x4", "--ranks", "3"], "either the process grid"),
    ([], "either the process grid"),
    (["--grid", "6x4x2"], "does not divide"),
    (["--grid", "61x4"], "does not divide"),
    (["--grid", "6x4", "--extent", "4x4"], "leave out --extent"),
    (["--grid", "6x4", "--cells", "30x40"], "give each cell a value"),
    (["--grid", "6x4", "--nodes", "2", "--ranks-per-node", "2"], "make them agree"),
    (["--ranks", "5000"], "start fewer ranks"),
    (["--grid", "6x4", "--tile-axis", "2"], "name one from 0 on"),
    (["--grid", "6x4", "--fold", "2"], "name two axes"),
    (["--grid", "6x4", "--fold", "1", "--periodic", "yes", "--nodes", "2"], "folded and periodic"),
])
def test_mistakes_are_told(mask, arguments, says):
    result = place("--mask", mask, *arguments)
    assert result.exit_code != 0
    assert says in " ".join(result.output.split())


def test_a_number_of_ranks_that_no_grid_has_is_refused_with_the_nearest():
    with pytest.raises(PlacementError, match="another number of ranks, such as 1 "):
        land_grids(np.eye(1, 40, 7), 3)
    assert "--mask" in place("--ranks", 3, "--nodes", 1).output



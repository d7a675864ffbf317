"""Grids with land against a model in which blocks without a wet cell own nothing: ghosts, the adjoint, sums, moves, and ranks needed."""

import tempfile
from bisect import bisect_right
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import seams
from _ranks import COMM, main, refused, seeds, totals, usable_transports
from folds import UNTOUCHED, Model, as_list, check_adjoint as check_adjoint_of, check_sums as check_sums_of, grid_of, indices, owned_places, reached, value

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)


class LandModel(Model):
    """As Model; points of blocks of land are nobody's."""

    def __init__(self, extents, periodic, folds, stagger, cuts, wet):
        super().__init__(extents, periodic, folds, stagger)
        self.cuts, self.wet = cuts, wet

    def point(self, index):
        found = super().point(index)
        return found if found and is_wet(found[0], self.cuts, self.wet) else None


class LandTiles(seams.Model):
    """The same of tiles that seams join."""

    def __init__(self, tiles, extents, joined, stagger, cuts, wet):
        super().__init__(tiles, extents, joined, stagger)
        self.cuts, self.wet = cuts, wet

    def found(self, tile, index):
        def index_of(at, frame):
            points = dict(zip((axis for axis, _ in frame), self.stagger, strict=True))
            return [(x - 1 + points[axis]) // 2 for axis, x in enumerate(at)]

        return [name for name in super().found(tile, index) if is_wet((name[0], *index_of(*name[1:])), self.cuts, self.wet)]


def is_wet(index, cuts, wet):
    """Whether the block that owns it has a rank. The last point is the last block's."""
    return wet[tuple(min(bisect_right(cut, i), len(cut) - 1) - 1 for i, cut in zip(index, cuts, strict=True))]


def random_land(rng, extents, process_grid=None, dealt=False):
    """Cuts per dimension, which places are wet (as many as ranks, or more), and a mask that makes them so; the last dimension may be left out of it."""
    grid = process_grid or [1] * len(extents)
    while prod(grid) < COMM.size:
        grid = [int(rng.integers(1, min(3, extent) + 1)) for extent in extents]
    cuts = [[0, *sorted(rng.choice(np.arange(1, extent), parts - 1, replace=False).tolist()), extent] for extent, parts in zip(extents, grid, strict=True)]
    wet = np.zeros(grid, bool)
    wet.flat[rng.choice(wet.size, rng.integers(COMM.size, wet.size + 1) if dealt else COMM.size, replace=False)] = True
    mask = np.zeros(extents, bool)
    for place in np.argwhere(wet):
        cells = mask[tuple(slice(cut[p], cut[p + 1]) for cut, p in zip(cuts, place, strict=True))]
        cells[...] = rng.random(cells.shape) < 0.3
        cells.flat[rng.integers(cells.size)] = True
    return cuts, wet, mask


def deal(rng, wet, mask):
    """Each rank some wet places, in any order; land by the mask or by the table."""
    ranks = rng.permutation([*range(COMM.size), *rng.integers(COMM.size, size=wet.sum() - COMM.size)])
    if rng.integers(2):
        return {"rank_order": ranks.tolist(), "mask": mask}
    table = np.full(wet.shape, -1)
    table[wet] = ranks
    return {"rank_order": table.ravel().tolist()}


def domain_of(rng, folded=1 / 3, filled=False, **more):
    extents, periodic, folds = grid_of(rng)
    folds = folds if rng.random() < folded else []
    if not folds:
        periodic = [bool(rng.integers(2)) for _ in extents]
    widest = [min(3, (extent - 1) // len(folds)) if folds and d == folds[0].start[0] else 3 for d, extent in enumerate(extents)]
    halo = [tuple(int(width) for width in rng.integers(0, most + 1, 2)) for most in widest]
    dealt = bool(rng.integers(2))
    cuts, wet, mask = random_land(rng, extents, dealt=dealt)
    order = ["last", "first", rng.permutation(COMM.size).tolist()][rng.integers(3)]
    ranks = deal(rng, wet, mask) if dealt else {"rank_order": order, "mask": mask if COMM.rank == 0 else []}
    splits = [np.diff(cut).tolist() for cut in cuts]
    blocks = [int(rng.integers(1, 1 + min(2, min(parts) if filled else 2))) for parts in splits] if COMM.size < 4 else None
    domain = ph.CartesianDomain(
        tuple(extents), halo, periodic, seams=folds, process_grid=wet.shape, splits=splits, blocks_per_rank=blocks, **ranks, **more)
    places = np.argwhere(wet)
    if order == "first":
        places = np.argwhere(wet.T)[:, ::-1]
    for number, place in enumerate([] if dealt else places):
        rank = order[number] if isinstance(order, list) else number
        assert domain.coordinates_of(rank) == tuple(place)
    stagger = tuple(int(points) for points in rng.integers(-1, 2, len(extents)))
    return domain, LandModel(extents, periodic, folds, stagger, cuts, wet)


def tiles_with_land(rng, model=None):
    tiles, extents, joined = seams.grid_of(rng)
    halo = [0, *(tuple(int(width) for width in rng.integers(0, (min(extents) - 1) // 2 + 1, 2)) for _ in extents)]
    dealt = bool(rng.integers(2))
    cuts, wet, mask = random_land(rng, (tiles, *extents), dealt=dealt)
    ranks = deal(rng, wet, mask) if dealt else {"mask": mask}
    blocks = [1, 1, int(rng.integers(1, 3))] if COMM.size < 4 else None
    domain = ph.CartesianDomain((tiles, *extents), halo, seams=joined, tile_axis=0, process_grid=wet.shape,
                                splits=[np.diff(cut).tolist() for cut in cuts], blocks_per_rank=blocks, **ranks)
    if model:
        return domain, lambda stagger: model(tiles, extents, joined, stagger)
    return domain, lambda stagger: LandTiles(tiles, extents, joined, stagger, cuts, wet)


def check_tiles(rng, transport):
    for check in (seams.check_scalars, seams.check_vectors, seams.check_adjoint):
        check(rng, transport, tiles_with_land)


def grid_with_land(rng):
    domain, model = domain_of(rng)
    return domain, model.stagger, model


def check_forward(rng, transport, made=None):
    domain, model = made or domain_of(rng, neighbors=str(rng.choice(["full", "full", "faces"])))
    u = domain.zeros(str(rng.choice(["int32", "float64", "complex128"])), stagger=model.stagger, order=str(rng.choice(["C", "F"])))
    try:
        exchange = ph.Exchange(domain, u, transport=transport)
    except ValueError as error:
        assert transport.startswith("by_dimension") and "by_dimension" in str(error), error
        return False
    before = []
    for array in as_list(u):  # no two alike, so that one ghost beyond land is not taken for another
        array[...] = -1 - 10**6 * COMM.rank - 10**5 * array.block - np.arange(array.size).reshape(array.shape)
        before.append(array.copy())
        for place, index in owned_places(domain, model, array).items():
            array[place] = value(index)
    exchange()
    wrong = []
    for array, kept in zip(as_list(u), before, strict=True):
        reaches = reached(array, domain.halo)
        for place, index in indices(domain, array).items():
            outside = [not cut.start <= i < cut.stop + max(more, 0) for i, cut, more in zip(index, domain.blocks[array.block], model.stagger, strict=True)]
            found = model.point(index)
            if found is None or not reaches(place) or (domain.neighbors == "faces" and sum(outside) > 1):
                expected = kept[place]
            else:
                expected = value(found[0])
            if array[place] != expected:
                wrong.append((index, expected, array[place]))
    assert not wrong, (transport, domain, model.stagger, model.folds, model.cuts, model.wet.tolist(), wrong[:5])
    return True


def check_adjoint(rng, transport):
    check_adjoint_of(rng, transport, grid_with_land)


def test_ghosts_have_the_values_of_wet_blocks_and_keep_theirs_beyond_land():
    names = usable_transports()
    for seed in seeds(120):
        assert check_forward(np.random.default_rng(seed), names[seed % len(names)])


def test_auto_does_not_pass_corners_on_through_land():
    made = [check_forward(np.random.default_rng([2, seed]), "by_dimension:mpi") for seed in seeds(24)]
    assert COMM.size == 1 or not all(made)
    for seed in seeds(8):
        assert check_forward(np.random.default_rng([3, seed]), "auto")


def test_neither_corners_nor_own_images_come_through_land():
    if COMM.size not in (2, 3):
        return
    wet = np.array([[True, COMM.size == 3], [False, True]])[..., None]
    extents, periodic = (8, 8, 4), (False, False, True)
    domain = ph.CartesianDomain(extents, 1, periodic, process_grid=wet.shape, mask=wet.repeat(4, 0).repeat(4, 1))
    made = domain, LandModel(extents, periodic, [], (0, 0, 0), [[0, 4, 8], [0, 4, 8], [0, 4]], wet)
    for name in usable_transports():
        assert check_forward(np.random.default_rng(0), name, made)
    assert not check_forward(np.random.default_rng(0), "by_dimension:mpi", made)


def test_reverse_is_the_adjoint():
    names = usable_transports()
    for seed in seeds(40):
        check_adjoint(np.random.default_rng([1, seed]), names[seed % len(names)])


def test_tiles_have_land():
    names = usable_transports()
    for seed in seeds(30):
        check_tiles(np.random.default_rng([6, seed]), names[seed % len(names)])


def check_whole(rng, _transport=""):
    """Blocks of land keep their values where a grid is gathered, and are not read where it is scattered."""
    domain, model = domain_of(rng)
    u, back = (domain.full(UNTOUCHED, "int64", stagger=model.stagger) for _ in range(2))
    shape = tuple(extent + (more > 0 and not wraps) for extent, more, wraps in zip(model.extents, model.stagger, model.periodic, strict=True))
    given = np.arange(-1, -1 - prod(shape), -1).reshape(shape)
    expected = np.where([is_wet(index, model.cuts, model.wet) for index in np.ndindex(shape)], 1 + np.arange(prod(shape)), given.ravel()).reshape(shape)
    points = domain.staggered(model.stagger)
    for array in as_list(u):
        for place, index in indices(domain, array).items():
            if all(cut.start <= i < cut.stop for i, cut in zip(index, points.blocks[array.block], strict=True)):
                array[place] = expected[index]
    root = int(rng.integers(COMM.size))
    plain, kept = domain.gather(u, root), domain.gather(u, root, given)
    domain.scatter(given if COMM.rank == root else None, back, root)
    if COMM.rank == root:
        assert (kept == expected).all() and (plain == np.where(expected > 0, expected, 0)).all(), (domain, model.stagger, model.cuts, model.wet.tolist())
    for array, same in zip(as_list(u), as_list(back), strict=True):
        assert (array == same).all(), (domain, model.stagger, model.cuts, model.wet.tolist())


def test_land_stays_as_it_is_where_a_grid_is_in_one_place():
    for seed in seeds(40):
        check_whole(np.random.default_rng([7, seed]))


def test_points_are_sums_over_the_wet_blocks_that_hold_them():
    for seed in seeds(24):
        rng = np.random.default_rng([4, seed])
        domain, model = domain_of(rng, folded=0, filled=True)
        stagger = tuple(max(1, more) if d == 0 else more for d, more in enumerate(model.stagger))
        arrays = domain.zeros("int64", stagger=stagger)
        held = {}
        for array in as_list(arrays):
            cuts = domain.blocks[array.block]
            for place in np.ndindex(*(cut.stop - cut.start + max(more, 0) for cut, more in zip(cuts, stagger, strict=True))):
                inside = tuple(i + lower for i, (lower, _) in zip(place, array.halo, strict=True))
                index = tuple((cut.start + i) % extent if wraps else cut.start + i
                              for cut, i, extent, wraps in zip(cuts, place, domain.extents, domain.periodic, strict=True))
                array[inside] = rng.integers(1, 1000) + COMM.rank
                held.setdefault(index, []).append((array, inside, int(array[inside])))
        ph.PointSums(domain, arrays)()
        total = totals({index: sum(mine for _, _, mine in copies) for index, copies in held.items()})
        wrong = [(index, total[index], int(array[inside])) for index, copies in held.items() for array, inside, _ in copies
                 if array[inside] != total[index]]
        assert not wrong, (domain, stagger, model.cuts, model.wet.tolist(), wrong[:5])


def check_sums_of_tiles(rng, transport):
    """What land would own, too: which points are one knows no land."""
    seams.check_sums(rng, transport, lambda rng: tiles_with_land(rng, seams.Model))


def check_sums_of_folds(rng, transport):
    def fold_with_land(rng):
        domain, model = domain_of(rng, folded=1)
        return domain, model.stagger, Model(model.extents, model.periodic, model.folds, model.stagger)

    check_sums_of(rng, transport, fold_with_land)


def test_sums_over_seams_are_over_the_wet_blocks_that_hold_a_point():
    names = usable_transports()
    for seed, check in product(seeds(60), (check_sums_of_tiles, check_sums_of_folds)):
        check(np.random.default_rng([8, seed]), names[seed % len(names)])


def check_moves(rng, _transport=""):
    """Between grids of which each may have land, and be of tiles."""
    tiled = bool(rng.integers(2))
    extents = [int(rng.integers(4, 9)) + COMM.size * (d == 1) for d in range(2 + tiled)]
    domains, models = [], []
    for has_land in ((True, True), (True, False), (False, True))[rng.integers(3)]:
        cuts, wet, mask = random_land(rng, extents, None if has_land else (1, COMM.size, 1)[:len(extents)])
        domains.append(ph.CartesianDomain(
            tuple(extents), [0, 1, 1] if tiled else 1, process_grid=wet.shape, splits=[np.diff(cut).tolist() for cut in cuts],
            seams=[ph.fold(2, mirrored=1)] if tiled else [], tile_axis=0 if tiled else None, mask=mask if has_land else None))
        models.append((cuts, wet))
    before, after = domains[0].zeros("int64"), domains[1].full(UNTOUCHED, "int64")
    before.owned[...] = value(domains[0].global_indices())
    ph.Redistribution(*domains)(before, after)
    for i, index in enumerate(product(*(range(cut.start, cut.stop) for cut in domains[1].owned))):
        assert after.owned.flat[i] == (value(index) if is_wet(index, *models[0]) else UNTOUCHED), (domains, models, index)


def test_redistributions_move_the_cells_that_both_grids_own():
    for seed in seeds(40):
        check_moves(np.random.default_rng([5, seed]))


def test_masks_are_arrays_functions_and_files():
    n = COMM.size
    cells = np.zeros((2 * (n + 2), 6), np.int32)
    cells[4:, 2] = 7
    with tempfile.TemporaryDirectory() as folder:
        path = COMM.bcast(str(Path(folder) / "mask.npy"))
        if COMM.rank == 0:
            np.save(path, cells)
        for mask in (cells, cells != 0, cells.astype("f8"), np.asfortranarray(cells), path, Path(path), lambda x, y: (x >= 4) & (y == 2),
                     lambda x, y: x >= 4):
            domain = ph.CartesianDomain(cells.shape, process_grid=(n + 2, 1), mask=mask)
            assert domain.coordinates == (COMM.rank + 2, 0) and domain.process_grid == (n + 2, 1)
            assert "with 2 places of land" in repr(domain)
        COMM.barrier()
    tiles = ph.CartesianDomain((n + 2, 4, 4), process_grid=(n + 2, 1, 1), tile_axis=0, mask=lambda tile, x, y: (tile >= 2) & (x == y))
    assert tiles.coordinates == (COMM.rank + 2, 0, 0)
    cube = ph.CubedSphere(8, mask=lambda tile, x, y: tile + x + y >= 0)
    assert prod(cube.process_grid) == COMM.size
    levels = ph.CartesianDomain((5, *cells.shape), process_grid=(1, n + 2, 1), mask=cells)
    assert levels.coordinates == (0, COMM.rank + 2, 0)


def test_a_grid_is_chosen_that_has_as_many_wet_places_as_ranks():
    rng = np.random.default_rng(7)
    x, y = np.ogrid[:120, :80]
    for _ in seeds(8):
        centers = rng.random((6, 2)) * (120, 80)
        mask = sum(((x - a) ** 2 + (y - b) ** 2 < 400).astype(int) for a, b in centers)
        domain = ph.CartesianDomain((120, 80), mask=mask)
        cuts = [np.array_split(np.arange(extent), parts) for extent, parts in zip(mask.shape, domain.process_grid, strict=True)]
        wet = [bool(mask[np.ix_(rows, columns)].any()) for rows, columns in product(*cuts)]
        assert sum(wet) == COMM.size
        assert sum(COMM.allgather(int((mask[domain.owned] != 0).sum()))) == (mask != 0).sum()


def test_mistakes_are_told_on_every_rank():
    n = COMM.size
    wet = np.ones((4 * n, 4))
    one = np.zeros((4 * n, 4))
    one[0, 0] = 1
    refused(ValueError, ph.CartesianDomain, wet.shape, process_grid=(2 * n, 1), mask=wet, says=f"start {2 * n} ranks")
    if n > 1:
        refused(ValueError, ph.CartesianDomain, wet.shape, process_grid=(n, 1), mask=one, says="start 1 rank")
        refused(ValueError, ph.CartesianDomain, wet.shape, process_grid=(n, 1), says="whether there is a mask",
                mask=wet if n - 1 == COMM.rank else None)
        refused(ValueError, ph.CartesianDomain, wet.shape, mask=one, says="start another number of ranks, such as 1 (process grid")
    refused(ValueError, ph.CartesianDomain, wet.shape, mask=0 * wet, says="no wet cell")
    refused(ValueError, ph.CartesianDomain, wet.shape, process_grid=(n, 1), mask=0 * wet, says="no wet cell")
    refused(ValueError, ph.CartesianDomain, wet.shape, mask=wet[1:], says="give each cell a value")
    refused(TypeError, ph.CartesianDomain, wet.shape, mask=wet.astype(str), says="booleans or numbers")
    refused(ValueError, ph.CartesianDomain, wet.shape, mask=wet, algorithm="by_dimension", says="standard algorithm")
    refused(ValueError, ph.CartesianDomain, wet.shape, mask=wet, splits=[None, [4]], says="need a process grid")
    refused(ph.ResourceError, ph.CartesianDomain, wet.shape, mask="/does/not/exist.npy", says="exist.npy")
    refused(ValueError, ph.CartesianDomain, wet.shape, mask=lambda x, y: np.ones(x.size + 1), says="give each cell a value")
    refused(ValueError, ph.CartesianDomain, wet.shape, process_grid=(2**13, 2**12), mask=wet, says="2^24 places")


if __name__ == "__main__":
    main(dict(globals()))

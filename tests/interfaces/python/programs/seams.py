"""Grids of tiles that seams join, against a model that walks from place to place, one step after the other."""

import itertools

import numpy as np
from _ranks import COMM, main, refused, seeds, totals, usable_transports

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)
UNTOUCHED = -12345


class Model:
    """Places of tiles of n × m cells, doubled: cell i lies at 2 i + 1, point i at 2 i, upper point i at 2 i + 2. A frame tells how the axes of the reader lie here."""

    kept = {}  # places that were found, by grid: every transport exchanges the same grids

    def __init__(self, tiles, extents, seams, stagger):
        self.tiles, self.extents, self.stagger = tiles, extents, stagger
        self.known = self.kept.setdefault(repr((tiles, extents, seams, stagger)), {})
        self.ways = {}
        for seam in seams:
            (a, side, tile), (b, other, there) = seam.start, seam.end
            backward = 3 - a in seam.backward
            self.ways[tile, a - 1, side] = (there, b - 1, other, backward)
            self.ways[there, b - 1, other] = (tile, a - 1, side, backward)

    def at(self, index):
        return [2 * i + 1 - points for i, points in zip(index, self.stagger, strict=True)]

    def cross(self, tile, at, frame, axis, side):
        """Through a side, from a place on its line or one step beyond it. None where it is open."""
        if (tile, axis, side) not in self.ways:
            return None
        there, b, other, backward = self.ways[tile, axis, side]
        length = 2 * self.extents[axis]
        beyond = at[axis] - length if side == "upper" else -at[axis]
        new = [0, 0]
        new[b] = 2 * self.extents[b] - beyond if other == "upper" else beyond
        along = at[1 - axis]
        new[1 - b] = 2 * self.extents[1 - axis] - along if backward else along
        turned = []
        for axis_here, direction in frame:
            if axis_here == axis:
                turned.append((b, -direction if side == other else direction))
            else:
                turned.append((1 - b, -direction if backward else direction))
        return there, new, turned

    def walk(self, tile, at, frame, axis, steps):
        """Along an axis of the reader."""
        for _ in range(abs(steps)):
            here, direction = frame[axis]
            at = list(at)
            at[here] += direction if steps > 0 else -direction
            if not 0 <= at[here] <= 2 * self.extents[here]:
                found = self.cross(tile, at, frame, here, "upper" if at[here] > 0 else "lower")
                if found is None:
                    return None
                tile, at, frame = found
        return tile, at, frame

    def found(self, tile, index):
        """(tile, index there, frame) of all that a place may hold; the point that comes first where places are one."""
        if (tile, *index) not in self.known:
            self.known[tile, *index] = self._found(tile, index)
        return self.known[tile, *index]

    def _found(self, tile, index):
        start = self.at(index)
        inside = [min(max(x, 1 - points), 2 * n - (not points)) for x, n, points in zip(start, self.extents, self.stagger, strict=True)]
        left = [x - y for x, y in zip(start, inside, strict=True)]
        plain = [(0, 1), (1, 1)]
        ends = []
        for order in ((0, 1), (1, 0)):
            state = (tile, inside, plain)
            for axis in order:
                state = state and self.walk(*state, axis, left[axis])
            if state is not None and state not in ends:
                ends.append(state)
        firsts = [name for name in (self.first(*end) for end in ends) if name]
        places = {name[:2] for name in firsts}
        if len(places) != 1:
            return []
        return firsts + [each for end in ends for each in self.names(*end) if each[:2] in places]

    def names(self, tile, at, frame):
        """All names of a place, by every way around."""
        every, seen = [(tile, at, frame)], set()
        for tile, at, frame in every:
            key = (tile, tuple(at), tuple(frame))
            if key in seen:
                continue
            seen.add(key)
            for axis, side in itertools.product((0, 1), ("lower", "upper")):
                if at[axis] == (2 * self.extents[axis] if side == "upper" else 0):
                    other = self.cross(tile, at, frame, axis, side)
                    if other is not None:
                        every.append(other)
        return [(tile, tuple(at), tuple(frame)) for tile, at, frame in every if self.is_held(at, frame)]

    def is_held(self, at, frame):
        """Upper points begin behind the first cell."""
        return all(points >= 0 or at[axis] > 0 for (axis, _), points in zip(frame, self.stagger, strict=True))

    def first(self, tile, at, frame):
        return min(self.names(tile, at, frame), key=lambda name: name[:2], default=None)


def value(tile, at, axis=0):
    return 1 + tile * 1000 + at[0] * 41 + at[1] + 500 * axis


def random_seams(rng, tiles, extents):
    """Sides of equal length in pairs, or a side with itself, some left open."""
    sides = [(tile, axis, side) for tile in range(tiles) for axis in (1, 2) for side in ("lower", "upper")]
    rng.shuffle(sides)
    seams, free = [], [(int(tile), int(axis), str(side)) for tile, axis, side in sides]
    while free:
        one = free.pop()
        if rng.random() < 0.1:
            continue
        fits = [other for other in free if extents[2 - one[1]] == extents[2 - other[1]]]
        other = one if not fits or rng.random() < 0.1 else fits[int(rng.integers(len(fits)))]
        if other != one:
            free.remove(other)
        backward = 3 - one[1] if other == one or rng.integers(2) else ()
        seams.append(ph.seam(one, other, backward=backward))
    return seams


def grid_of(rng):
    tiles = int(rng.integers(1, 5))
    n = int(rng.integers(4, 8))
    extents = (n, n if rng.integers(2) else int(rng.integers(4, 8)))
    seams = random_seams(rng, tiles, extents)
    while len({axis for seam in seams for axis, *_ in (seam.start, seam.end)}) == 1:  # a vector would have one component alone
        seams = random_seams(rng, tiles, extents)
    return tiles, extents, seams


def domain_of(rng, tiles, extents, seams):
    most = (min(extents) - 1) // 2
    halo = [0] + [tuple(int(width) for width in rng.integers(0, most + 1, 2)) for _ in extents]
    blocks = [1, int(rng.integers(1, 3)), int(rng.integers(1, 3))] if COMM.size < 4 else None
    return ph.CartesianDomain((tiles, *extents), halo, seams=seams, tile_axis=0, blocks_per_rank=blocks)


def plain(rng):
    """A domain, and what makes the model of a stagger."""
    tiles, extents, seams = grid_of(rng)
    return domain_of(rng, tiles, extents, seams), lambda stagger: Model(tiles, extents, seams, stagger)


def as_list(arrays):
    return arrays if isinstance(arrays, list) else [arrays]


def places(domain, u):
    """Where each value of an array is: its place in the array, the tile, and the index there."""
    points = domain.staggered(u.stagger) if any(u.stagger) else domain
    if any(cut.start >= cut.stop for cut in points.blocks[u.block]):
        return
    starts = [cut.start - lower for cut, (lower, _) in zip(domain.blocks[u.block], u.halo, strict=True)]
    for place in np.ndindex(u.shape):
        tile, *index = (start + i for start, i in zip(starts, place, strict=True))
        yield place, tile, index


def within(domain, u, ends):
    """Which places of an array lie from the first point that its block owns to `ends`."""
    points = domain.staggered(u.stagger) if any(u.stagger) else domain
    starts = [cut.start - lower for cut, (lower, _) in zip(domain.blocks[u.block], u.halo, strict=True)]
    limits = [(cut.start - start, end - start) for cut, end, start in zip(points.blocks[u.block], ends(points), starts, strict=True)]
    return lambda place: all(low <= i < high for i, (low, high) in zip(place, limits, strict=True))


def owned(domain, u):
    return within(domain, u, lambda points: [cut.stop for cut in points.blocks[u.block]])


def fill(domain, model, arrays, axis=0):
    for array in as_list(arrays):
        array[...] = UNTOUCHED
        is_owned = owned(domain, array)
        for place, tile, index in places(domain, array):
            here = (tile, tuple(model.at(index)))
            if is_owned(place) and model.first(*here, ((0, 1), (1, 1)))[:2] == here:
                array[place] = value(*here, axis)


def wrong_values(domain, model, arrays, axis=None):
    """Of a scalar, or of a component along an axis."""
    wrong = []
    for array in as_list(arrays):
        for place, tile, index in places(domain, array):
            allowed = set()
            for there, at, frame in model.found(tile, index):
                along, sign = frame[axis] if axis is not None else (0, 1)
                allowed.add(sign * value(there, at, along))
            if array[place] not in (allowed or {UNTOUCHED}):
                wrong.append((place, tile, index, array[place], allowed))
    return wrong


def check_scalars(rng, transport, case=plain):
    domain, model_of = case(rng)
    staggers = [(0, 0), (1, 1), (-1, -1)]
    arrays = [domain.zeros("int64", stagger=(0, *stagger), order=str(rng.choice(["C", "F"]))) for stagger in staggers]
    exchange = ph.Exchange(domain, *arrays, transport=transport)
    for array, stagger in zip(arrays, staggers, strict=True):
        fill(domain, model_of(stagger), array)
    exchange()
    for array, stagger in zip(arrays, staggers, strict=True):
        wrong = wrong_values(domain, model_of(stagger), array)
        assert not wrong, (transport, domain, domain.halo, stagger, domain.seams, wrong[:5])


def check_vectors(rng, transport, case=plain):
    domain, model_of = case(rng)
    sets = [[(0, 0), (0, 0)], [(1, 0), (0, 1)], [(0, 1), (1, 0)], [(1, 1), (1, 1)], [(-1, 0), (0, -1)], [(0, -1), (-1, 0)], [(-1, -1), (-1, -1)]]
    staggers = sets[rng.integers(len(sets))]
    u, v = (domain.zeros("int64", stagger=(0, *stagger)) for stagger in staggers)
    exchange = ph.Exchange(domain, vector=(u, v), transport=transport)
    for axis, (array, stagger) in enumerate(zip((u, v), staggers, strict=True)):
        fill(domain, model_of(stagger), array, axis)
    exchange()
    for axis, (array, stagger) in enumerate(zip((u, v), staggers, strict=True)):
        wrong = wrong_values(domain, model_of(stagger), array, axis)
        assert not wrong, (transport, domain, domain.halo, staggers, axis, domain.seams, wrong[:5])


def check_adjoint(rng, transport, case=plain):
    """⟨A x, y⟩ = ⟨x, Aᵀ y⟩, on integers, of scalars and of a vector."""
    domain, _model_of = case(rng)
    h, u, v = (domain.zeros("int64", stagger=(0, *stagger)) for stagger in [((1, 1), (1, 0), (0, 1)), ((-1, -1), (-1, 0), (0, -1))][rng.integers(2)])
    exchange = ph.Exchange(domain, h, vector=(u, v), transport=transport)
    arrays = [array for each in (h, u, v) for array in as_list(each)]
    inside = [np.array([*map(owned(domain, array), np.ndindex(array.shape))], bool).reshape(array.shape) for array in arrays]
    marks = []
    for number, array in enumerate(arrays):
        array[...] = 1 + np.arange(array.size).reshape(array.shape) + 10**6 * (number + 50 * COMM.rank)
        marks.append(array.copy())
    exchange()
    mine = [(array == mark) & within for array, mark, within in zip(arrays, marks, inside, strict=True)]
    x = [np.where(own, rng.integers(1, 100, own.shape) + COMM.rank, 0) for own in mine]
    y = [rng.integers(1, 100, own.shape) + COMM.rank for own in mine]
    for array, values in zip(arrays, x, strict=True):
        array[...] = values
    exchange()
    forward = COMM.allreduce(sum(int((array * other).sum()) for array, other in zip(arrays, y, strict=True)))
    for array, values in zip(arrays, y, strict=True):
        array[...] = values
    exchange.reverse()
    reverse = COMM.allreduce(sum(int((array * values).sum()) for array, values in zip(arrays, x, strict=True)))
    assert forward == reverse, (transport, domain, domain.halo, domain.seams, forward, reverse)


def held(domain, u):
    """Not a layer around what the block has."""
    def ends(points):
        return [cut.stop + (more if more > 0 and cut.stop < n + more else 0) for cut, n, more in zip(points.blocks[u.block], domain.extents, u.stagger, strict=True)]

    return within(domain, u, ends)


def check_sums(rng, transport, case=plain):
    """All that hold a point of a scalar, or of a vector, have the sum of what they had."""
    domain, model_of = case(rng)
    sets = [[(1, 1)], [(1, 0), (0, 1)], [(0, 1), (1, 0)], [(1, 1), (1, 1)], [(-1, -1)], [(-1, 0), (0, -1)], [(-1, -1), (-1, -1)]]
    staggers = sets[rng.integers(len(sets))]
    fields = [domain.zeros("int64", stagger=(0, *stagger)) for stagger in staggers]
    is_vector = len(fields) > 1
    given = [ph.Field(field, vector=1, along=axis) for axis, field in enumerate(fields, 1)] if is_vector else fields
    sums = ph.PointSums(domain, *given, transport=transport)
    expected, mine, unclear = [], {}, set()
    for axis, (field, stagger) in enumerate(zip(fields, staggers, strict=True)):
        model = model_of(stagger)
        for array in as_list(field):
            array[...] = rng.integers(1, 1000, array.shape) + 1000 * COMM.rank
            is_held = held(domain, array)
            for place, tile, index in places(domain, array):
                names = set()
                for there, at, frame in model.found(tile, index) if is_held(place) else ():
                    names.add((there, at, *(frame[axis] if is_vector else (0, 1))))
                if len({name[:3] for name in names}) > 1 or len(names) > 1:
                    unclear |= {name[:3] for name in names}
                for *name, sign in list(names)[:1]:
                    mine[tuple(name)] = mine.get(tuple(name), 0) + sign * int(array[place])
                expected.append((array, place, array[place], names))
    total = totals(mine)
    unclear = set().union(*COMM.allgather(unclear))
    if rng.integers(2):
        sums()
    else:
        with sums.begin() as step:
            step.test()
    for array, place, before, names in expected:
        if any(name[:3] in unclear for name in names):
            continue
        right = [name[3] * total[name[:3]] for name in names] or [before]
        assert array[place] == right[0], (transport, domain.extents, staggers, domain.seams, place, array[place], right, before)


def test_sums_of_points():
    for transport, seed in itertools.product(usable_transports(), seeds(12)):
        check_sums(np.random.default_rng(3000 + seed), transport)


def test_cells_move_to_another_grid_with_seams():
    for seed in seeds(10):
        rng = np.random.default_rng(4000 + seed)
        tiles, extents, seams = grid_of(rng)
        one, other = (domain_of(rng, tiles, extents, seams) for _ in range(2))
        u, v = one.zeros("int64"), other.zeros("int64")
        for array in as_list(u):
            is_owned = owned(one, array)
            for place, tile, index in places(one, array):
                array[place] = value(tile, tuple(index)) if is_owned(place) else UNTOUCHED
        ph.Redistribution(one, other)(u, v)
        for array in as_list(v):
            is_owned = owned(other, array)
            assert all(array[place] == (value(tile, tuple(index)) if is_owned(place) else 0) for place, tile, index in places(other, array))


def test_scalars():
    for transport, seed in itertools.product(usable_transports(), seeds(12)):
        check_scalars(np.random.default_rng(seed), transport)


def test_components_of_vectors():
    for transport, seed in itertools.product(usable_transports(), seeds(16)):
        check_vectors(np.random.default_rng(1000 + seed), transport)


def test_reverse_is_the_adjoint():
    for transport, seed in itertools.product(usable_transports(), seeds(8)):
        check_adjoint(np.random.default_rng(2000 + seed), transport)


def corners_of_cube(tile, i, j, n):
    """Where a vertex of a face lies, in units of cells."""
    origin, x, y = [
        ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
        ((n, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((n, n, 0), (-1, 0, 0), (0, 0, 1)),
        ((0, n, 0), (0, -1, 0), (0, 0, 1)),
        ((0, 0, n), (1, 0, 0), (0, 1, 0)),
        ((0, n, 0), (1, 0, 0), (0, -1, 0)),
    ][tile]
    return [a + i * b + j * c for a, b, c in zip(origin, x, y, strict=True)]


def test_the_faces_of_a_cube_meet_at_its_edges():
    n = 5
    cube = ph.CubedSphere(n, halo=1)
    arrays = [cube.zeros("int64", stagger=(0, 1, 1)) for _ in range(3)]
    expected = []
    for axis, whole in enumerate(arrays):
        for array in as_list(whole):
            for place, tile, (i, j) in places(cube, array):
                array[place] = corners_of_cube(tile, i, j, n)[axis]
            expected.append((array, array.copy()))
    ph.Exchange(cube, *arrays)()
    for array, before in expected:
        for place, _tile, (i, j) in places(cube, array):
            if 0 <= i <= n and 0 <= j <= n:
                assert array[place] == before[place]


def test_one_tile_is_folded_about_centers():
    for seam in (ph.fold(2, pivot="center", tile=1), ph.seam((1, 2, "upper"), (1, 2, "upper"), backward=1, pivot="center")):
        domain = ph.CartesianDomain((2, 5, 4), (0, 0, 1), seams=[seam], tile_axis=0)
        u = domain.zeros("int32")
        for array in as_list(u):
            array[...] = UNTOUCHED
            tile, i, j = np.meshgrid(*(np.arange(cut.start, cut.stop) for cut in domain.blocks[array.block]), indexing="ij")
            array.owned[...] = 100 * tile + 10 * np.where((tile == 1) & (j == 3), np.minimum(i, -i % 5), i) + j
        ph.Exchange(domain, u)()
        for array in as_list(u):
            for place, tile, (i, j) in places(domain, array):
                if j == 4:
                    assert array[place] == (102 + 10 * (-i % 5) if tile == 1 else UNTOUCHED), (tile, i)
    refused(ValueError, ph.seam, (0, "upper"), (0, "upper"), pivot="middle", says="pivot")


def test_a_cube_is_one_whose_corners_keep_their_values():
    cube = ph.CubedSphere(4, halo=2, levels=(3,))
    h = cube.zeros("int32")
    for array in as_list(h):
        array[...] = UNTOUCHED
        array.owned[...] = 1
    ph.Exchange(cube, h)()
    for array in as_list(h):
        for place, _tile, (i, j, _level) in places(cube, array):
            corner = not 0 <= i < 4 and not 0 <= j < 4
            assert array[place] == (UNTOUCHED if corner else 1)


def test_a_strip_and_a_bottle():
    strip = ph.CartesianDomain((6, 4), seams=[ph.seam((0, "lower"), (0, "upper"), backward=1)])
    bottle = ph.CartesianDomain((6, 4), periodic=(False, True), seams=[ph.seam((0, "lower"), (0, "upper"), backward=1)])
    for domain in (strip, bottle):
        u = domain.zeros("int32")
        u[...] = UNTOUCHED
        i, j = domain.global_indices()
        u.owned[...] = 10 * i + j
        ph.Exchange(domain, u)()
        (x, y), (low, below) = (domain.blocks[0], [lower for lower, _ in u.halo])
        for place in np.ndindex(u.shape):
            i, j = x.start - low + place[0], y.start - below + place[1]
            if i in (-1, 6):
                i, j = i % 6, 3 - j
            if domain is bottle:
                j %= 4
            assert u[place] == (10 * i + j if 0 <= j < 4 else UNTOUCHED)


def test_each_crossing_that_mirrors_an_axis_changes_the_sign():
    strip = ph.seam((0, "lower"), (0, "upper"), backward=1)
    plane = ph.CartesianDomain((6, 5), 2, seams=[strip, ph.seam((1, "lower"), (1, "upper"), backward=0)])
    folded = ph.CartesianDomain((6, 5), 2, seams=[strip, ph.fold(axis=1)])
    for transport in usable_transports():
        u = plane.zeros("int64")
        u.owned[...] = 1
        ph.Exchange(plane, ph.Field(u, sign=-1), transport=transport)()
        for place in np.ndindex(u.shape):
            at = [cut.start - 2 + i for cut, i in zip(plane.owned, place, strict=True)]
            assert u[place] == (-1) ** sum(not 0 <= i < n for i, n in zip(at, (6, 5), strict=True)), (transport, at)
        # The strip mirrors axis 1, and the fold both: a sign that changes at both is that of the component along axis 1.
        v, *vector = (folded.zeros("int64", stagger=stagger) for stagger in ((0, 1), (1, 0), (0, 1)))
        v[...] = vector[1][...] = 1 + np.arange(v.size).reshape(v.shape) + 1000 * COMM.rank
        ph.Exchange(folded, ph.Field(v, sign=-1), transport=transport)()
        ph.Exchange(folded, vector=tuple(vector), transport=transport)()
        assert (v == vector[1]).all(), transport


def test_a_bottle_with_levels_that_ranks_share():
    if COMM.size > 4:
        return
    seams = [ph.seam((0, "lower"), (0, "upper"), backward=1), ph.seam((1, "lower"), (1, "upper"))]
    bottle = ph.CartesianDomain((4, 4, 4), seams=seams, process_grid=(1, 1, COMM.size))
    u = bottle.zeros("int32")
    u[...] = UNTOUCHED
    i, j, k = bottle.global_indices()
    u.owned[...] = 100 * i + 10 * j + k
    ph.Exchange(bottle, u)()
    first = bottle.blocks[0][2].start
    for place in np.ndindex(u.shape):
        i, j, k = place[0] - 1, place[1] - 1, first + place[2] - 1
        if i in (-1, 4):
            i, j = i % 4, 3 - j
        assert u[place] == (100 * i + 10 * (j % 4) + k if 0 <= k < 4 else UNTOUCHED)


def test_what_does_not_fit_is_refused():
    def grid(*seams, extents=(2, 4, 4), **more):
        return ph.CartesianDomain(extents, seams=list(seams), **{"tile_axis": 0, **more})

    joined = ph.seam((0, 1, "upper"), (1, 1, "lower"))
    refused(ValueError, grid, joined, joined, says="has two seams")
    refused(ValueError, grid, ph.seam((0, 1, "upper"), (1, 2, "lower")), extents=(2, 4, 5), says="make them equal")
    refused(ValueError, grid, ph.seam((0, 1, "upper"), (2, 1, "lower")), says="name a tile")
    refused(ValueError, grid, ph.seam((0, 0, "upper"), (1, 1, "lower")), says="counts tiles")
    refused(ValueError, grid, ph.seam((0, 1, "upper"), (1, 1, "lower"), axes=(0, 2, 1)), says="leave them out")
    refused(ValueError, grid, ph.seam((0, 1, "upper"), (1, 1, "lower"), backward=1), says="mirrors an axis")
    refused(ValueError, grid, joined, halo=(1, 1, 1), says="counts tiles")
    refused(ValueError, grid, joined, halo=5, says="use a narrower halo")
    refused(ValueError, grid, joined, periodic=(False, True, False), says="is periodic")
    refused(ValueError, grid, joined, algorithm="by_dimension", says="standard algorithm")
    refused(ValueError, ph.CartesianDomain, (4, 4), seams=[joined], says="name a tile")
    turned = grid(ph.seam((0, 1, "upper"), (1, 2, "lower")))
    u, v = turned.zeros(stagger=(0, 1, 0)), turned.zeros(stagger=(0, 0, 1))
    refused(ValueError, turned.zeros, stagger=1, says="counts tiles")
    no_component = grid(ph.seam((0, 1, "lower"), (0, 1, "upper"), backward=2), ph.fold(2, "lower", tile=0), ph.seam((0, 2, "upper"), (1, 2, "lower"), backward=1))
    refused(ValueError, ph.Exchange, no_component, ph.Field(no_component.zeros(), sign=-1), says="pass the components")
    if COMM.size == 1:  # on ranks that the seam does not reach nothing is wrong but what they are told
        refused(ValueError, ph.Exchange, turned, u, v, says="pass it as a component of a vector")
        refused(ValueError, ph.Exchange, turned, ph.Field(turned.zeros(), sign=-1), says="pass the components")
        refused(ValueError, ph.Exchange, turned, ph.Field(u, vector=1, along=1), says="pass all of them")
        refused(ValueError, ph.Exchange, turned, vector=(u, turned.zeros()), says="points along its own axis")
        refused(ValueError, ph.Exchange(turned, vector=(u, v)).only, fields=[0], says="name both")
        twice = [ph.Field(each, vector=1, along=1) for each in (u, u.copy())]
        refused(ValueError, ph.Exchange, turned, *twice, ph.Field(v, vector=1, along=2), says="number each vector differently")
    refused(ValueError, ph.Exchange, turned, vector=(u,), says="the component along each")
    pairs = [tuple(turned.zeros(stagger=stagger) for stagger in ((0, 1, 0), (0, 0, 1))) for _ in range(2)]
    first = [ph.Field(each, vector=1, along=along) for along, each in enumerate(pairs[0], 1)]
    ph.Exchange(turned, *first, vector=pairs[1])  # the second pair has another number
    masked = np.ma.masked_equal(np.arange(16).reshape(4, 4), 3)
    refused(TypeError, ph.CartesianDomain, (4, 4), mask=masked, says="masked array")
    refused(TypeError, ph.CartesianDomain, (4, 4), seams=["north"], says="ph.seam")
    refused(TypeError, ph.seam, "north", "south", says="pass (axis")
    refused(ValueError, ph.seam, (0, "upper"), (0, "lower"), backward=9, says="name axes")


if __name__ == "__main__":
    main(globals())

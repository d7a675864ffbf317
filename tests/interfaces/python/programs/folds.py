"""Grids with folds against a model that mirrors positions: each ghost, its sign, and the adjoint."""

import itertools

import numpy as np
from _ranks import COMM, main, refused, seeds, totals, usable_transports

import parhelion as ph

RANKS = (1, 2, 3, 4, 6)
UNTOUCHED = -12345


class Model:
    """Positions are doubled: cell i lies at 2 i + 1, point i at 2 i, upper point i at 2 i + 2."""

    kept = {}  # points that were found, by grid: every transport exchanges the same grids

    def __init__(self, extents, periodic, folds, stagger):
        self.extents, self.periodic, self.folds, self.stagger = extents, periodic, folds, stagger
        self.known = self.kept.setdefault(repr((extents, periodic, folds, stagger)), {})

    def point(self, index):
        """(canonical index, sign) of an index that may lie outside; None where nothing is."""
        if index not in self.known:
            self.known[index] = self._point(index)
        return self.known[index]

    def _point(self, index):
        at = [2 * i + 1 - points for i, points in zip(index, self.stagger, strict=True)]
        sign = 1
        for fold in self.folds:
            a, (m,) = fold.start[0], fold.backward
            if not self._wrap(at, m):
                return None
            inward = fold.pivot == "center"
            line = 2 * self.extents[a] - inward if fold.start[1] == "upper" else int(inward)
            beyond = at[a] > line if fold.start[1] == "upper" else at[a] < line
            if not beyond and at[a] != line:
                continue
            mirrored = 2 * self.extents[m] - at[m] + 2 * inward
            mirrored = self._inside(mirrored, m, inward)
            if beyond:
                if mirrored is None:
                    return None
                at[a], at[m], sign = 2 * line - at[a], mirrored, -1
                break
            if mirrored is not None and (mirrored < at[m] or not self._is_held(at[m], m)):
                at[m], sign = mirrored, -1
        if not all(self._wrap(at, d) and self._is_held(at[d], d) for d in range(len(at))):
            return None
        return tuple((position - 1 + points) // 2 for position, points in zip(at, self.stagger, strict=True)), sign

    def _wrap(self, at, d):
        length = 2 * self.extents[d]
        if self.periodic[d]:
            at[d] = self._around(at[d], d)
        return 0 <= at[d] <= length - (not self.stagger[d])

    def _is_held(self, position, d):
        """Upper points begin behind the first cell."""
        return position > 0 or self.stagger[d] >= 0

    def _around(self, position, d):
        above = self.stagger[d] < 0
        return (position - above) % (2 * self.extents[d]) + above

    def _inside(self, position, d, inward):
        length = 2 * self.extents[d]
        if self.periodic[d] or (inward and not self.stagger[d]):
            return self._around(position, d)
        return position if (self.stagger[d] < 0) <= position <= length else None


def value(index):
    return 1 + sum(i * factor for i, factor in zip(index, (1, 100, 10000, 3), strict=False))


def indices(domain, u):
    """The global index of every value of an array with its halo; none where the block is empty, which has no ghosts."""
    points = domain.staggered(u.stagger) if any(u.stagger) else domain
    if any(cut.start >= cut.stop for cut in points.blocks[u.block]):
        return {}
    starts = [cut.start - lower for cut, (lower, _) in zip(domain.blocks[u.block], u.halo, strict=True)]
    return {place: tuple(start + i for start, i in zip(starts, place, strict=True)) for place in np.ndindex(u.shape)}


def grid_of(rng):
    dimensions = int(rng.integers(2, 4))
    axis = int(rng.integers(dimensions))
    mirrored = int(rng.choice([d for d in range(dimensions) if d != axis]))
    sides = [["upper"], ["lower"], ["upper", "lower"]][rng.integers(3)]
    folds = [ph.fold(axis, side, str(rng.choice(["corner", "center"])), mirrored=mirrored) for side in sides]
    periodic = [bool(rng.integers(2)) and d != axis for d in range(dimensions)]
    extents = [int(rng.integers(4, 9)) for _ in range(dimensions)]
    return extents, periodic, folds


def domain_of(rng, **more):
    extents, periodic, folds = grid_of(rng)
    widest = [3 if d != folds[0].start[0] else min(3, (extent - 1) // len(folds)) for d, extent in enumerate(extents)]
    halo = [tuple(int(width) for width in rng.integers(0, most + 1, 2)) for most in widest]
    blocks = [int(rng.integers(1, 3)) for _ in extents] if COMM.size < 4 else None
    domain = ph.CartesianDomain(tuple(extents), halo, periodic, seams=folds, blocks_per_rank=blocks, **more)
    stagger = tuple(int(points) for points in rng.integers(-1, 2, len(extents)))
    return domain, stagger, Model(extents, periodic, folds, stagger)


def owned_places(domain, model, array):
    """Of an array: where it holds a point that it owns, and the index of each."""
    points = domain.staggered(model.stagger) if any(model.stagger) else domain
    block = points.blocks[array.block]
    here = {}
    for place, index in indices(domain, array).items():
        inside = all(cut.start <= i < cut.stop for i, cut in zip(index, block, strict=True))
        if inside and model.point(index) == (index, 1):
            here[place] = index
    return here


def as_list(arrays):
    return arrays if isinstance(arrays, list) else [arrays]


def reached(array, depth):
    """Whether an exchange to that depth reaches a place of the array."""
    limits = [(lower - low, extent - upper + high) for (lower, upper), (low, high), extent in zip(array.halo, depth, array.shape, strict=True)]
    return lambda place: all(low <= i < high for i, (low, high) in zip(place, limits, strict=True))


def check_forward(rng, transport):
    domain, stagger, model = domain_of(rng)
    dtype = str(rng.choice(["int32", "float64", "int64", "complex128", "float32", "int16"]))
    sign = int(rng.choice([1, -1]))
    u = domain.zeros(dtype, stagger=stagger, order=str(rng.choice(["C", "F"])))
    depth = [tuple(int(rng.integers(0, width + 1)) for width in sides) for sides in domain.halo]
    whole = ph.Exchange(domain, ph.Field(u, sign=sign), transport=transport)
    field = ph.Exchange([(domain, ph.Field(u, sign=sign, depth=depth))], transport=transport)
    for exchange, layers in ((whole, domain.halo), (field, depth), (whole.only(depth=depth), depth)):
        expected = []
        for array in as_list(u):
            array[...] = UNTOUCHED
            for place, index in owned_places(domain, model, array).items():
                array[place] = value(index) % 30000
        exchange()
        for array in as_list(u):
            reaches = reached(array, layers)
            for place, index in indices(domain, array).items():
                found = model.point(index)
                if found is None or not reaches(place):
                    expected.append((index, UNTOUCHED, array[place]))
                else:
                    expected.append((index, value(found[0]) % 30000 * (sign if found[1] < 0 else 1), array[place]))
        wrong = [each for each in expected if each[1] != each[2]]
        assert not wrong, (transport, domain.extents, domain.halo, stagger, sign, model.folds, model.periodic, wrong[:5])


def check_adjoint(rng, transport, case=domain_of):
    domain, stagger, model = case(rng)
    sign = int(rng.choice([1, -1]))
    u = domain.zeros("int64", stagger=stagger)
    exchange = ph.Exchange(domain, ph.Field(u, sign=sign), transport=transport)
    own, given = {}, {}
    for array in as_list(u):
        places = owned_places(domain, model, array)
        for place, index in indices(domain, array).items():
            array[place] = rng.integers(1, 1000) + COMM.rank
            found = model.point(index)
            if place in places:
                own[array.block, place] = (index, int(array[place]))
            elif found is not None:
                given[found[0]] = given.get(found[0], 0) + int(array[place]) * (sign if found[1] < 0 else 1)
    exchange.reverse("sum")
    total = totals(given)
    arrays = {array.block: array for array in as_list(u)}
    wrong = [(index, before + total.get(index, 0), int(arrays[block][place]))
             for (block, place), (index, before) in own.items() if arrays[block][place] != before + total.get(index, 0)]
    assert not wrong, (transport, domain.extents, domain.halo, stagger, sign, model.folds, model.periodic, wrong[:5])


def check_sums(rng, transport, case=domain_of):
    """All that hold a point, not around it, have the sum of what they had."""
    domain, stagger, model = case(rng)
    if not any(stagger) and all(fold.pivot == "corner" for fold in model.folds):
        return
    sign = int(rng.choice([1, -1]))
    u = domain.zeros("int64", stagger=stagger)
    sums = ph.PointSums(domain, ph.Field(u, sign=sign), transport=transport)
    mine, before = {}, []
    for array in as_list(u):
        holds = reached(array, [(0, 0)] * array.ndim)
        array[...] = rng.integers(1, 1000, array.shape) + COMM.rank
        for place, index in indices(domain, array).items():
            found = model.point(index) if holds(place) else None
            before.append((array, place, int(array[place]), found))
            if found is not None:
                mine[found[0]] = mine.get(found[0], 0) + int(array[place]) * (sign if found[1] < 0 else 1)
    total = totals(mine)
    sums()
    for array, place, old, found in before:
        right = old if found is None else total[found[0]] * (sign if found[1] < 0 else 1)
        assert array[place] == right, (transport, domain.extents, domain.halo, stagger, sign, model.folds, model.periodic, place, old, right)


def test_every_ghost_has_the_value_of_the_point_that_it_is():
    names = usable_transports()
    for seed in seeds(80):
        check_forward(np.random.default_rng(seed), names[seed % len(names)])


def test_reverse_is_the_adjoint():
    names = usable_transports()
    for seed in seeds(80):
        check_adjoint(np.random.default_rng([1, seed]), names[seed % len(names)])


def test_sums_of_points():
    names = usable_transports()
    for seed in seeds(40):
        check_sums(np.random.default_rng([2, seed]), names[seed % len(names)])


def check_replace(rng, transport):
    """All that hold a point have the value of the highest rank that holds it."""
    domain, stagger, model = domain_of(rng)
    if not any(stagger) and all(fold.pivot == "corner" for fold in model.folds):
        return
    u = domain.zeros("int64", stagger=stagger)
    mine, held = {}, []
    for array in as_list(u):
        array[...] = COMM.rank
        holds = reached(array, [(0, 0)] * array.ndim)
        for place, index in indices(domain, array).items():
            found = model.point(index) if holds(place) else None
            if found is not None:
                mine[found[0]] = COMM.rank
                held.append((array, place, found[0]))
    highest = {}
    for each in COMM.allgather(mine):
        highest |= each
    sums = ph.PointSums(domain, u, transport=transport)
    for _ in range(2):
        sums.reduce("replace")
        wrong = [(place, int(array[place]), highest[point]) for array, place, point in held if array[place] != highest[point]]
        assert not wrong, (transport, domain.extents, stagger, model.folds, model.periodic, wrong[:5])


def test_replacing_takes_the_value_of_the_highest_rank():
    names = usable_transports()
    for seed in seeds(20):
        check_replace(np.random.default_rng([3, seed]), names[seed % len(names)])


def test_the_formulas_of_the_documentation():
    for pivot in ("corner", "center"):
        n, m, width = 6, 5, 3
        domain = ph.CartesianDomain((n, m), width, (True, False), seams=[ph.fold(axis=1, pivot=pivot)])
        u = domain.zeros("int64")
        u[...] = UNTOUCHED
        i, j = np.meshgrid(*(np.arange(cut.start, cut.stop) for cut in domain.owned), indexing="ij")
        u.owned[...] = 10 * i + j
        ph.Exchange(domain, u)()
        (first, last), (low, high) = ((cut.start, cut.stop) for cut in domain.owned)
        if high == m:
            for i in range(first, last):
                for k in range(1, width + 1):
                    source = (n - 1 - i, m - k) if pivot == "corner" else ((n - i) % n, m - 1 - k)
                    assert u[i - first + width, m - 1 + k - low + width] == 10 * source[0] + source[1]


# NEMO's lbc_nfd, indices from 1 and a halo of one column: ghost row jpj at (ji, jpj) takes psgn times the value at (jpi - ji + a, jpj - b). The part of row
# jpj - 1 behind the first column takes (jpi - ji + a, jpj - c) if the table has c: all columns if c > 1, those that are the second place of a point else.
NEMO = {
    ("center", "T"): (2, 2, 1), ("center", "U"): (1, 2, 1), ("center", "V"): (2, 3, 2), ("center", "F"): (1, 3, 2),
    ("corner", "T"): (1, 1, None), ("corner", "U"): (0, 1, None), ("corner", "V"): (1, 2, 1), ("corner", "F"): (0, 2, 1),
}
STAGGERS = {"T": (0, 0), "U": (-1, 0), "V": (0, -1), "F": (-1, -1)}


def test_the_formulas_of_nemo():
    n, m = 8, 6
    jpi, jpj = n + 2, m + 1
    for (pivot, point), (a, b, c) in NEMO.items():
        domain = ph.CartesianDomain((n, m), 1, (True, False), seams=[ph.fold(axis=1, pivot=pivot)])
        sign = 1 if point == "T" else -1
        u = domain.zeros("int64", stagger=STAGGERS[point])
        i, j = np.meshgrid(*(np.arange(cut.start, cut.stop) for cut in domain.owned), indexing="ij")
        u.owned[...] = value((i, j))
        ph.Exchange(domain, ph.Field(u, sign=sign))()
        for place, (at, row) in indices(domain, u).items():
            ji, jj = at + 2, row + jpj - m
            if row < m - 1 or not 0 <= at < n:
                continue
            down = b if jj == jpj else c
            there = ((jpi - ji + a - 2) % n, m - (down or 0))
            moved = down is not None and (jj == jpj or down > 1 or there[0] < at)
            right = sign * value(there) if moved else value((at, row))
            assert u[place] == right, (pivot, point, at, row, int(u[place]), right)


# FMS's fill_folded_north_halo, indices from 1: with its offsets (ioff, joff) and symmetric memory (shift 1), row nyp + k beyond the folded edge takes the
# sign times the value at (nx + 1 + 2 shift - ioff - i, nyp + 1 - joff - k). On the line of a vector the right half takes the left one, negated.
FMS = {"CENTER": (0, 0), "CORNER": (1, 1), "EAST": (1, 0), "NORTH": (0, 1)}


def test_the_formulas_of_fms():
    n, m, width = 8, 6, 3
    domain = ph.CartesianDomain((n, m), width, (True, False), seams=[ph.fold(axis=1)])
    for (position, (ioff, joff)), symmetric in itertools.product(FMS.items(), (False, True)):
        stagger = (ioff, joff) if symmetric else (-ioff, -joff)
        ishift, nyp = symmetric * ioff, m + symmetric * joff
        sign = 1 if position == "CENTER" else -1
        u = domain.zeros("int64", stagger=stagger)
        for place, (i, j) in indices(domain, u).items():  # points n and 0 are one in symmetric memory
            u[place] = value((i % n if ishift else i, j))
        ph.Exchange(domain, ph.Field(u, sign=sign))()
        for place, (at, row) in indices(domain, u).items():
            i, j = at + 1, row + 1
            there = (n + 1 + 2 * ishift - ioff - i, nyp + 1 - joff - (j - nyp))
            first, mirrored = (((x - 1) % n, y - 1) for x, y in ((i, j), there))
            if j > nyp:
                assert u[place] == sign * value(mirrored), (position, symmetric, i, j, u[place])
            elif j == nyp and joff and 1 <= i <= n:
                expected = value(first) if first[0] <= mirrored[0] else sign * value(mirrored)
                assert u[place] == expected, (position, symmetric, i, j, u[place], expected)


def test_what_does_not_go_with_a_fold_is_refused():
    north = [ph.fold()]
    refused(ValueError, ph.CartesianDomain, (8, 8), periodic=True, seams=north, says="axis 1 is periodic")
    refused(ValueError, ph.CartesianDomain, (8,), seams=north, says="name another axis")
    refused(ValueError, ph.CartesianDomain, (8, 8), seams=north * 2, says="has two seams")
    refused(ValueError, ph.CartesianDomain, (8, 2), 2, seams=north, says="use a narrower halo")
    refused(ValueError, ph.CartesianDomain, (8, 8), seams=north, boundary="owned", says="open boundary")
    refused(ValueError, ph.CartesianDomain, (8, 8), seams=north, algorithm="by_dimension", says="standard algorithm")
    refused(TypeError, ph.CartesianDomain, (8, 8), seams="north", says="ph.fold")
    domain = ph.CartesianDomain((8, 8), seams=north)
    refused(ValueError, ph.Exchange, domain, ph.Field(domain.zeros(), sign=2), says="vector components")
    refused(TypeError, ph.Exchange, domain, ph.Field(domain.zeros("bool"), sign=-1), says="no sign")
    refused(ValueError, ph.PointSums, domain, domain.zeros(), says="only one rank holds")


if __name__ == "__main__":
    main(dict(globals()))

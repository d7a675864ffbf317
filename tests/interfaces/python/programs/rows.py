"""Rows over index maps against a plain NumPy oracle: layout × element × pull or push × forward or reverse; and mistakes."""

import pickle
from dataclasses import dataclass

import numpy as np
from _lockstep import check_together
from _oracle import encode
from _ranks import COMM, main, on_last, refused
from hypothesis import strategies as st

import parhelion as ph

RANKS = (1, 2, 3, 4, 8)
EXAMPLES = {1: 120, 2: 80, 3: 24, 4: 20, 8: 10}[COMM.size]
NUMBERS = ["int32", "int64", "float32", "float64", "complex128"]
DTYPES = [*NUMBERS, "uint8", "bool", "S3", ">f8", [("id", "i8"), ("x", "f4", (2,))]]


@dataclass(frozen=True)
class Case:
    """A map and an array, as every rank knows them: rows are numbered by rank, `ids` are their global ids."""

    owned: list
    ids: list | None
    wanted: list  # per rank: row numbers (pull)
    pushed: list | None  # per rank: (own row, rank)
    layout: str
    dtype: int
    shape: tuple
    sizes: list


@st.composite
def cases(draw):
    owned = draw(st.lists(st.integers(0, 5), min_size=COMM.size, max_size=COMM.size))
    rows = sum(owned)
    ids = draw(st.permutations(range(3, 3 + 2 * rows, 2))) if draw(st.booleans()) else None
    numbers = st.lists(st.integers(0, max(rows - 1, 0)), max_size=6 if rows else 0)
    wanted = draw(st.lists(numbers, min_size=COMM.size, max_size=COMM.size))
    pushed = None
    if draw(st.booleans()):
        pair = [st.tuples(st.integers(0, max(count - 1, 0)), st.integers(0, COMM.size - 1)) for count in owned]
        pushed = [draw(st.lists(pair[r], max_size=6 if owned[r] else 0)) for r in range(COMM.size)]
    return Case(
        owned, ids, wanted, pushed, draw(st.sampled_from(["uniform", "padded", "ragged"])), draw(st.integers(0, len(DTYPES) - 1)),
        draw(st.sampled_from([(), (1,), (3,), (2, 2)])), draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows)),
    )


class World:
    """The whole problem on one process, without the library: which rows are where, and what they hold."""

    def __init__(self, case):
        self.case, self.dtype = case, np.dtype(DTYPES[case.dtype])
        self.first = np.concatenate([[0], np.cumsum(case.owned)]).astype(int)
        rows = range(self.first[-1])
        self.ids = np.array(case.ids if case.ids is not None else list(rows), np.int64)
        self.sizes = [case.sizes[row] if case.layout != "uniform" else 1 for row in rows]
        self.rows = [self.values(row, size) for row, size in zip(rows, self.sizes, strict=True)]

    def values(self, row, size, salt=0):
        count = size * int(np.prod(self.case.shape, dtype=int))
        return encode((np.arange(count) + 97 * row + salt) % 50, self.dtype).reshape(size, *self.case.shape)

    def own(self, rank=None):
        rank = COMM.rank if rank is None else rank
        return list(range(self.first[rank], self.first[rank + 1]))

    def ghosts(self, rank=None):
        rank = COMM.rank if rank is None else rank
        if self.case.pushed is None:
            return self.case.wanted[rank]
        return [self.first[sender] + row for sender, list in enumerate(self.case.pushed) for row, to in list if to == rank]

    def make_map(self):
        owned = self.case.owned[COMM.rank] if self.case.ids is None else self.ids[self.own()]
        if self.case.pushed is None:
            return ph.IndexMap.pull(owned, self.ids[self.ghosts()] if self.ghosts() else [])
        mine = self.case.pushed[COMM.rank]
        return ph.IndexMap.push(owned, [row for row, _ in mine], [rank for _, rank in mine])

    def make_array(self, map):
        array = {"uniform": Uniform, "padded": Padded, "ragged": Ragged}[self.case.layout](self, map)
        for local, row in enumerate(self.own()):
            array.put(local, self.rows[row])
        return array


class Uniform:
    """Rows of one size: an array of the map."""

    def __init__(self, world, map):
        self.map, self.values = map, map.zeros(world.dtype, world.case.shape)
        self.groups = [(map, self.values)]

    def put(self, row, entries):
        self.values[row] = entries[0]

    def __getitem__(self, row):
        return self.values[row : row + 1]


class Padded:
    """Rows with room for 4 entries, and an array of how many they use."""

    def __init__(self, world, map):
        self.map, self.values, self.sizes = map, map.zeros(world.dtype, (4, *world.case.shape)), map.zeros("i4")
        self.groups = [(map, self.values, self.sizes)]

    def put(self, row, entries):
        self.sizes[row], self.values[row, : len(entries)] = len(entries), entries

    def __getitem__(self, row):
        return self.values[row, : self.sizes[row]]


class Ragged:
    """Rows as long as they need to be."""

    def __init__(self, world, map):
        self.map, self.entries = map, map.ragged([world.sizes[row] for row in world.own()])
        self.values = self.entries.zeros(world.dtype, world.case.shape)
        self.groups = [(self.entries, self.values)]

    def put(self, row, entries):
        self.values[self.entries.row(row)] = entries

    def __getitem__(self, row):
        return self.values[self.entries.row(row)]


def check_rows(array, local, expected, what):
    row = np.asarray(array[local])
    assert row.dtype == expected.dtype and row.shape == expected.shape, f"{what} {local}: {row.dtype} {row.shape}"
    assert row.tobytes() == expected.tobytes(), f"{what} {local}: {row} instead of {expected}"


def check_forward(world, array):
    for local, row in enumerate(world.own()):
        check_rows(array, local, world.rows[row], "owned row")
    for position, row in enumerate(world.ghosts()):
        check_rows(array, array.map.owned + position, world.rows[row], "ghost row")


def check_map(world, map):
    assert map.owned == len(world.own()) and list(map.ghost_ids) == list(world.ids[world.ghosts()] if world.ghosts() else [])
    assert list(map.owned_ids) == list(world.ids[world.own()])
    every = world.ids
    owners = np.repeat(np.arange(COMM.size), world.case.owned)
    assert list(map.owners_of(every)) == list(owners)
    for local, id in enumerate(map.owned_ids):
        assert map.local_of([id])[0] == local
    for id in map.ghost_ids:
        assert map.global_of(map.local_of([id]))[0] == id


def check_forward_case(case):
    world = World(case)
    map = world.make_map()
    check_map(world, map)
    array = world.make_array(map)
    exchange = ph.Exchange(array.groups)
    exchange()
    check_forward(world, array)
    world.rows = [world.values(row, size, salt=13) for row, size in enumerate(world.sizes)]
    for local, row in enumerate(world.own()):
        array.put(local, world.rows[row])
    with exchange.begin():
        pass
    check_forward(world, array)


def test_ghosts_equal_the_oracle():
    check_together(cases(), check_forward_case, EXAMPLES)


def check_reverse_case(case):
    world = World(case)
    array = world.make_array(world.make_map())
    ph.Exchange(array.groups)()
    contributions = [[world.values(row, world.sizes[row], salt=7 * position + rank) for position, row in enumerate(world.ghosts(rank))]
                     for rank in range(COMM.size)]
    mine = contributions[COMM.rank]
    for position, value in enumerate(mine):
        array.put(array.map.owned + position, value)
    ph.Exchange(array.groups).only(fields=[0]).reverse("sum")  # not sizes
    expected = list(world.rows)
    for rank in range(COMM.size):
        for position, row in enumerate(world.ghosts(rank)):
            expected[row] = expected[row] + contributions[rank][position]
    for local, row in enumerate(world.own()):
        check_rows(array, local, expected[row].astype(world.dtype), "owned row")
    for position, value in enumerate(mine):
        check_rows(array, array.map.owned + position, value, "ghost row, which keeps its values,")


def test_contributions_of_ghosts_are_summed_at_their_owners():
    numbers = cases().filter(lambda case: case.dtype < len(NUMBERS))
    check_together(numbers, check_reverse_case, EXAMPLES // 2)


def check_several_case(several):
    first, layouts = several[0], several[1]
    worlds = [World(Case(**{**vars(first), "layout": layout, "dtype": dtype})) for layout, dtype in layouts]
    map = worlds[0].make_map()
    arrays = [world.make_array(map) for world in worlds]
    exchange = ph.Exchange([group for array in arrays for group in array.groups])
    exchange()
    for world, array in zip(worlds, arrays, strict=True):
        check_forward(world, array)
    assert exchange.messages_sent() <= len(set(range(COMM.size)) - {COMM.rank})


def test_arrays_of_different_layouts_share_messages():
    layouts = st.tuples(st.sampled_from(["uniform", "padded", "ragged"]), st.integers(0, len(DTYPES) - 1))
    check_together(st.tuples(cases(), st.lists(layouts, min_size=2, max_size=4)), check_several_case, EXAMPLES // 3)


def ring(owned=4):
    """Each rank pulls the row before and the row after its own; with one rank these are its own."""
    rows = owned * COMM.size
    return ph.IndexMap.pull(owned, [(owned * COMM.rank - 1) % rows, owned * (COMM.rank + 1) % rows])


def test_a_ragged_map_tells_where_rows_are():
    cells = ring()
    nodes = cells.ragged(cells.owned_ids % 3)
    numbers = nodes.zeros("i8")
    numbers.owned[:] = np.repeat(cells.owned_ids, cells.owned_ids % 3)
    nodes.forward(numbers)
    every = [*cells.owned_ids, *cells.ghost_ids]
    assert nodes.rows is cells and nodes.counts.tolist() == [id % 3 for id in every]
    assert nodes.offsets.tolist() == [0, *np.cumsum(nodes.counts)]
    assert all(numbers[nodes.row(row)].tolist() == [id] * (id % 3) for row, id in enumerate(every))
    refused(IndexError, nodes.row, 6, says="does not exist")


def test_wrong_maps_are_refused_on_every_rank():
    pull, push = ph.IndexMap.pull, ph.IndexMap.push
    refused(ValueError, pull, 3, on_last([3 * COMM.size], []), says="outside")
    refused(TypeError, pull, on_last("3", 3), says="owned")
    refused(TypeError, pull, 3, on_last([0.5], []), says="whole numbers")
    refused(ValueError, push, 3, on_last([3], []), on_last([0], []), says="not owned")
    refused(ValueError, push, 3, on_last([2**40], []), on_last([0], []), says="not owned")
    refused(ValueError, push, 3, on_last([0], []), on_last([COMM.size], []), says="does not exist")
    refused(ValueError, push, 3, on_last([0, 1], []), on_last([0], []), says="one rank for each cell")
    if COMM.size > 1:
        refused(ValueError, pull, on_last([99], 3), says="same on every rank")
    refused(TypeError, pickle.dumps, pull(3), says="pickled")
    cells = ring()
    refused(ValueError, cells.ragged, on_last([1], [1] * 4), says="one count per owned row")
    refused(ValueError, cells.ragged, on_last([-1] * 4, [1] * 4), says="0 or more")
    refused(ValueError, cells.ragged, on_last([2**62] * 4, [1] * 4), says="fewer than 2^31")
    refused(TypeError, cells.ragged, on_last([0.5] * 4, [1] * 4), says="whole numbers")


if __name__ == "__main__":
    main(globals())

"""Row arrays against a plain NumPy oracle: layout × element × pull or push × once or persistent × forward or reverse."""

from dataclasses import dataclass

import numpy as np
from _lockstep import check_together
from _oracle import encode
from _ranks import COMM, main
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
    alignment: int
    once: bool


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
        draw(st.sampled_from([1, 8, 64])), draw(st.booleans()),
    )  # fmt: skip


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
            return ph.GhostMap.pull(owned, self.ids[self.ghosts()] if self.ghosts() else [])
        mine = self.case.pushed[COMM.rank]
        return ph.GhostMap.push(owned, [row for row, _ in mine], [rank for _, rank in mine])

    def make_array(self, map):
        case, own = self.case, self.own()
        if case.layout == "uniform":
            array = ph.GhostArray(map, case.shape, self.dtype, alignment=case.alignment)
            for local, row in enumerate(own):
                array[local] = self.rows[row][0]
        elif case.layout == "padded":
            array = ph.GhostArray.padded(map, 4, self.dtype, case.shape or None, alignment=case.alignment)
            for local, row in enumerate(own):
                array[local] = self.rows[row]
        else:
            entries = np.concatenate([np.empty((0, *case.shape), self.dtype), *(self.rows[row] for row in own)])
            sizes = [self.sizes[row] for row in own]
            array = ph.GhostArray.ragged(map, sizes, entries, self.dtype, case.shape or None, alignment=case.alignment)
        return array


def check_rows(array, local, expected, what):
    if array.layout == "uniform":
        expected = expected[0]
    row = array[local]
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
    if case.once:
        ph.fill_ghosts(array)
        check_forward(world, array)
        return
    exchange = ph.GhostExchange(array)
    exchange()
    check_forward(world, array)
    world.rows = [world.values(row, size, salt=13) for row, size in enumerate(world.sizes)]
    for local, row in enumerate(world.own()):
        array[local] = world.rows[row] if case.layout != "uniform" else world.rows[row][0]
    with exchange.begin():
        pass
    check_forward(world, array)


def test_ghosts_equal_the_oracle():
    check_together(cases(), check_forward_case, EXAMPLES)


def check_reverse_case(case):
    world = World(case)
    array = world.make_array(world.make_map())
    exchange = ph.GhostExchange(array)
    exchange()
    contributions = [[world.values(row, world.sizes[row], salt=7 * position + rank) for position, row in enumerate(world.ghosts(rank))]
                     for rank in range(COMM.size)]  # fmt: skip
    mine = contributions[COMM.rank]
    for position, value in enumerate(mine):
        array[array.map.owned + position] = value if case.layout != "uniform" else value[0]
    exchange.reverse("sum")
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
    exchange = ph.GhostExchange(*arrays)
    exchange()
    for world, array in zip(worlds, arrays, strict=True):
        check_forward(world, array)
    assert exchange.messages_sent() <= len(set(range(COMM.size)) - {COMM.rank})


def test_arrays_of_different_layouts_share_a_map_and_its_messages():
    layouts = st.tuples(st.sampled_from(["uniform", "padded", "ragged"]), st.integers(0, len(DTYPES) - 1))
    check_together(st.tuples(cases(), st.lists(layouts, min_size=2, max_size=4)), check_several_case, EXAMPLES // 3)


def check_refresh_case(case):
    world = World(Case(**{**vars(case[0]), "layout": "ragged"}))
    array = world.make_array(world.make_map())
    exchange = ph.GhostExchange(array)
    exchange()
    for turn in range(2):
        world.sizes = [(size + case[1] * (row + turn)) % 5 for row, size in enumerate(world.sizes)]
        world.rows = [world.values(row, size, salt=turn) for row, size in enumerate(world.sizes)]
        with array.edit():
            for local, row in enumerate(world.own()):
                array[local] = world.rows[row]
        assert exchange.stale
        exchange.refresh()
        exchange()
        check_forward(world, array)


def test_ragged_rows_whose_sizes_change_are_refreshed_when_asked():
    check_together(st.tuples(cases(), st.integers(0, 3)), check_refresh_case, EXAMPLES // 3)


if __name__ == "__main__":
    main(globals())

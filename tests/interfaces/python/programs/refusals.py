"""Bad input raises the right exception on every rank, also when one rank alone makes the mistake, and nothing hangs."""

import numpy as np
from _ranks import COMM, main, on_last, refused

import parhelion as ph

RANKS = (1, 2, 3)


def test_wrong_domains_are_refused():
    make = ph.CartesianDomain
    refused(ValueError, make, (), says="dimensions")
    refused(ValueError, make, (2,) * 5, says="dimensions")
    refused(ValueError, make, (4, -1), says="negative")
    refused(TypeError, make, (4, 2.5), says="whole number")
    refused(TypeError, make, "64", says="extents")
    refused(TypeError, make, None, says="extents")
    refused(ValueError, make, (4, 4), halo=-1, says="negative")
    refused(ValueError, make, (4, 4), halo=(1, 2, 3), says="halo")
    refused(ValueError, make, (4, 4), halo=((1, 2, 3), 1), says="halo")
    refused(TypeError, make, (4, 4), halo=1.5, says="halo")
    refused(ValueError, make, (4, 4), halo=2**40, says="bits")
    refused(TypeError, make, (4, 4), periodic="yes", says="periodic")
    refused(ValueError, make, (4, 4), periodic=(True,), says="periodic")
    refused(ValueError, make, (4, 4), process_grid=(COMM.size + 1, 1), says="process grid")
    refused(TypeError, make, (4, 4), process_grid=3, says="process_grid")
    refused(ValueError, make, (4, 4), splits=([1] * 7, None), says="split")
    refused(ValueError, make, (4, 4), blocks_per_rank=(0, 1), says="blocks_per_rank")
    refused(ValueError, make, (4, 4), neighbors="all", says="'faces'")
    refused(ValueError, make, (4, 4), algorithm="fast", says="'by_dimension'")
    refused(ValueError, make, (4, 4), neighbors="faces", algorithm="by_dimension", says="by_dimension")
    refused(TypeError, make, (4, 4), comm=7, says="comm")


def test_a_mistake_of_one_rank_alone_is_raised_on_every_rank():
    make = ph.CartesianDomain
    where = f"rank {COMM.size - 1}" if COMM.size > 1 else ""
    refused(TypeError, make, on_last("4", (4,)), says=where)
    refused(ValueError, make, on_last((-4,), (4,)), says=where)
    refused(TypeError, make, (4,), halo=on_last(1.5, 1), says=where)
    if COMM.size > 1:
        refused(ValueError, make, on_last((4,), (5,)), says="differ")
        refused(ValueError, make, (4, 4), periodic=on_last(True, False), says="differ")


def test_wrong_indexed_domains_are_refused():
    make, total = ph.IndexedDomain, 3 * COMM.size
    refused(TypeError, make, on_last(1.5, 3), says="owned")
    refused(ValueError, make, on_last(-1, 3), says="own")
    refused(ValueError, make, 3, on_last([total], []), says="outside")
    refused(ValueError, make, 3, on_last([3 * COMM.rank], []), says="owns")
    refused(TypeError, make, 3, on_last([0.5], []), says="whole numbers")
    refused(ValueError, make, 3, on_last([[1, 2]], []), says="shape")
    several = ph.IndexedDomain.with_owned_ids
    refused(ValueError, several, [5, 5] if COMM.rank == 0 else [], says="more than once")
    refused(ValueError, several, on_last([-3], []), says="negative")
    refused(ValueError, several, [COMM.rank * 10], on_last([COMM.rank * 10 - 1], []) if COMM.size > 1 else [-1], says="")
    domain = make(3)
    refused(ValueError, domain.global_of, [3], says="does not exist")
    refused(ValueError, domain.owners_of, on_last([total], [0]), says="does not exist")
    refused(TypeError, domain.owners_of, on_last(["a"], [0]), says="ids")


def test_wrong_arrays_of_a_domain_are_refused():
    domain = ph.CartesianDomain((6, 6), halo=1)
    refused(TypeError, domain.zeros, object, says="Python objects")
    refused(TypeError, domain.zeros, "S", says="size")
    refused(TypeError, domain.zeros, "no such type")
    refused(ValueError, domain.zeros, order="K", says="order")
    refused(ValueError, domain.zeros, components=0, says="components")
    refused(TypeError, domain.zeros, components=1.5)
    refused(ValueError, domain.zeros, halo=2, depth=2, says="beyond the domain's halo")
    refused(ValueError, domain.array_shape, block=1, says="block 1")
    refused(ph.ResourceError, ph.CartesianDomain((2**20, 2**20, 4), process_grid=(1, 1, COMM.size)).zeros, says="memory")


def test_arrays_that_do_not_fit_are_refused():
    domain = ph.CartesianDomain((6, 6), halo=1, periodic=True)
    good = domain.zeros()
    frozen = np.zeros(domain.array_shape())
    frozen.flags.writeable = False
    holes = np.lib.stride_tricks.as_strided(good, good.shape, (0, 8))

    def make(wrong):
        return ph.Exchange(domain, on_last(wrong, good))

    refused(ValueError, ph.Exchange, domain, says="no arrays")
    refused(ValueError, make, np.zeros((3, 3, 3)), says="shape")
    refused(ValueError, make, np.zeros(7), says="dimensions")
    refused(ValueError, make, np.zeros((*domain.array_shape(), 0)), says="components")
    refused(ValueError, make, frozen, says="read-only")
    refused(ValueError, make, holes, says="broadcast")
    refused(ValueError, make, [good, good], says="blocks")
    refused(ValueError, make, ph.Field(good, halo=2), says="shape")
    refused(TypeError, make, ph.Field(good, halo=0.5), says="halo")
    refused(TypeError, make, np.zeros(domain.array_shape(), object), says="Python objects")
    for wrong in (np.zeros(3, object), np.zeros(3, [("id", "i8"), ("what", object)])):
        refused(TypeError, ph.IndexMap(ph.IndexedDomain(3, [])).forward, wrong, says="Python objects")
    refused(TypeError, make, np.ma.masked_array(np.zeros(domain.array_shape()), True), says="mask")
    refused(TypeError, make, 3.5, says="float")
    refused(TypeError, make, "text", says="str")
    indexed = ph.IndexedDomain(3)
    refused(ValueError, ph.Exchange, indexed, on_last(np.zeros(4), np.zeros(3)), says="first axis")
    refused(ValueError, ph.Exchange, indexed, on_last((np.zeros(3), np.zeros(1)), np.zeros(3)), says="ghosts")
    refused(ValueError, ph.Exchange, indexed, on_last((np.zeros(3),), np.zeros(3)), says="pair")
    refused(TypeError, ph.Exchange, indexed, ph.Field(np.zeros(3), 1), says="halo")


def test_ranks_that_pass_different_fields_are_told():
    if COMM.size == 1:
        return
    domain = ph.CartesianDomain((6, 6), halo=2, periodic=True)
    for wrong in (domain.zeros("float32"), domain.zeros(halo=1), domain.zeros(components=2), domain.zeros("int64")):
        refused(ValueError, ph.Exchange, domain, on_last(wrong, domain.zeros()), says="differ")
    many = [domain.zeros() for _ in range(on_last(2, 1))]
    refused(ValueError, ph.Exchange, domain, *many, says="differ")
    refused(ValueError, ph.Exchange, domain, domain.zeros(), transport=on_last("mpi", "mpi_neighbor"), says="differ")


def test_what_differs_is_said_with_rank_and_values():
    last = COMM.size - 1
    if last == 0:
        return
    domain = ph.CartesianDomain((6, 6), halo=2, periodic=True)

    def differ(wrong, right, says, **options):
        refused(ValueError, ph.Exchange, domain, *on_last(wrong, right), says=says, **options)

    one = (domain.zeros(), domain.zeros())
    there = f"on rank {last}"
    differ((one[0],), one, f"the number of fields is 2 on rank 0 and 1 {there}")
    differ((one[0], domain.zeros("int8")), one, f"the element of field 1 is float64 on rank 0 and int8 {there}")
    differ((domain.zeros(components=3), one[1]), one, f"the number of components of field 0 is 1 on rank 0 and 3 {there}")
    narrow = domain.zeros(halo=(2, (2, 1)))
    differ((one[0], narrow), one, f"the upper halo width of field 1 in dimension 1 is 2 on rank 0 and 1 {there}")
    refused(ValueError, ph.Exchange, domain, one[0], transport=on_last("mpi", "auto"),
            says=f"the transport is auto on rank 0 and mpi {there}")
    tensors = [domain.zeros(components=(2, 2), order="F") for _ in range(on_last(2, 1))]
    refused(ValueError, ph.Exchange, domain, *tensors, says=f"their number is 1 on rank 0 and 2 {there}")
    refused(ValueError, ph.CartesianDomain, (on_last(7, 6), 6), says=f"the extent in dimension 0 is 6 on rank 0 and 7 {there}")
    mine = 0 if COMM.rank == 0 else 1
    many = f"({last} of the {last} other ranks differ from rank 0)" if last > 1 else "on rank 1"
    refused(ValueError, ph.CartesianDomain, (6, 6), halo=mine, says=many)
    refused(ValueError, ph.CartesianDomain, (6, 6), neighbors=on_last("faces", "full"),
            says=f"neighbors is full on rank 0 and faces {there}")


def test_a_process_grid_says_how_many_ranks_it_needs():
    refused(ValueError, ph.CartesianDomain, (8, 8, 8), process_grid=(2, 2, 2),
            says=f"2 × 2 × 2 needs 8 ranks, but the communicator has {COMM.size}")
    refused(ValueError, ph.CartesianDomain, (8,) * 4, process_grid=(2**30,) * 4, says="more than 2^63 ranks")


def test_arrays_of_owned_cells_alone_are_refused_unless_that_is_said():
    domain = ph.CartesianDomain((6, 4), halo=(1, 2), periodic=True)
    good = domain.zeros()
    rows, columns = good.owned.shape

    def make(wrong):
        return ph.Exchange(domain, on_last(wrong, good))

    refused(ValueError, make, np.zeros((rows, columns)), says="ph.Field(array, halo=")
    refused(ValueError, make, good.owned, says="domain.zeros")
    refused(ValueError, make, good.owned.copy(), says="domain.zeros")
    refused(ValueError, make, np.zeros((rows, columns, 3)), says="domain.zeros")
    refused(ValueError, make, np.zeros((rows + 2, columns)), says="domain.zeros")
    refused(ValueError, make, np.zeros((rows, columns + 4)), says="domain.zeros")
    bare = ph.CartesianDomain((6, 4), halo=0, periodic=True, process_grid=domain.process_grid)
    refused(ValueError, make, bare.zeros(), says="domain.zeros")
    refused(ValueError, make, bare.zeros() + 1, says="domain.zeros")
    for none in (domain.zeros(halo=0), ph.Field(np.zeros((rows, columns)), halo=0), ph.Field(bare.zeros(), halo=0)):
        assert ph.Exchange(domain, none).bytes_sent() == 0
    ph.Exchange(domain, ph.Field(np.zeros((rows + 2, columns)), halo=(1, 0)))()
    ph.Exchange(domain, domain.zeros(halo=(1, 0)))()
    ph.Exchange(bare, np.zeros((rows, columns)))()
    ph.Exchange(domain, np.zeros((rows + 2, columns + 2)))()  # narrower, and no doubt about it


def test_arrays_that_share_cells_are_refused():
    domain = ph.CartesianDomain((6, 4), halo=1, periodic=True)
    u, v, both = domain.zeros(), domain.zeros(), domain.zeros(components=3)

    def make(*arrays):
        return ph.Exchange(domain, *arrays)

    refused(ValueError, make, u, u, says="field 0 and field 1 share memory")
    refused(ValueError, make, u, v, on_last(u, domain.zeros()), says="field 0 and field 2 share memory")
    refused(ValueError, make, both[..., 1], both, says="share memory")
    refused(ValueError, make, both[..., :2], both[..., 1:], says="share memory")
    refused(ValueError, make, u, u[::-1], says="share memory")
    refused(ValueError, make, u, ph.Field(np.asarray(u)[1:-1, 1:-1], halo=0), says="share memory")
    shape = domain.array_shape()
    folded = np.lib.stride_tricks.as_strided(np.zeros(shape), shape, (shape[1] * 8 - 16, 8))
    refused(ValueError, make, on_last(folded, u), says="share memory with each other")
    indexed = ph.IndexedDomain(3, [(3 * COMM.rank + 3) % (3 * COMM.size)] if COMM.size > 1 else [])
    x = indexed.zeros()
    refused(ValueError, ph.Exchange, indexed, x, x, says="share memory")
    if COMM.size > 1:
        refused(ValueError, ph.Exchange, indexed, on_last((x[:3], x[:1]), x),
                says="the owned cells of field 0 and the ghosts of field 0")


def test_arrays_that_take_turns_in_memory_are_exchanged_together():
    domain = ph.CartesianDomain((3 * COMM.size,), halo=1, periodic=True, process_grid=(COMM.size,))
    cells = np.ones((5, 3))
    ph.Exchange(domain, cells[:, 0], cells[:, 1:]).reverse("sum")
    assert cells[1:-1].tolist() == [[2] * 3, [1] * 3, [2] * 3]
    record = np.ones(5, [("a", "i4"), ("b", "f8")])
    ph.Exchange(domain, record["a"], record["b"]).reverse("sum")
    assert record["a"][1:-1].tolist() == record["b"][1:-1].tolist() == [2, 1, 2]
    lines = np.ones((10, 2))
    ph.Exchange(domain, lines[::2], lines[1::2, :], transport="mpi").reverse("sum")
    assert lines[2:-2].tolist() == [[2, 2]] * 2 + [[1, 1]] * 2 + [[2, 2]] * 2


def test_a_rank_without_cells_does_not_care_how_arrays_lie():
    cells = [3] * COMM.size
    cells[-1] = 0 if COMM.size > 1 else 3
    first = sum(cells[: COMM.rank])
    domain = ph.CartesianDomain((sum(cells),), halo=1, periodic=True, process_grid=(COMM.size,), splits=(cells,))
    indexed = ph.IndexedDomain(cells[COMM.rank], [(first + 3) % sum(cells)] if cells[COMM.rank] and COMM.size > 2 else [])
    for order in "CF":
        for components in ((2, 2), (2, 1, 3), 2):
            shape = (components,) if isinstance(components, int) else components
            empty = COMM.size > 1 and COMM.rank == COMM.size - 1
            ph.Exchange(domain, domain.zeros("i4", shape, order, halo=0))()
            u = np.zeros((*domain.array_shape(), *shape), "i4", order)
            v = domain.zeros("i4", shape, order)
            none = ph.Field(np.zeros((0, *shape), "i4", order), halo=0)
            ph.Exchange(domain, none if empty else ph.Field(np.zeros((3, *shape), "i4", order), halo=0), u, v)()
            u[1:-1] = v[1:-1] = (np.arange(domain.owned[0].start, domain.owned[0].stop) + 1).reshape(-1, *[1] * len(shape))
            ph.Exchange(domain, u, v)()
            if not empty:
                for array in (u, v):
                    assert (array[0] == (first - 1) % sum(cells) + 1).all() and (array[-1] == (first + 3) % sum(cells) + 1).all()
            x = np.zeros((indexed.size, *shape), "i4", order)
            pair = (np.zeros((indexed.owned, *shape), "i4", order), np.zeros((indexed.ghosts, *shape), "i4", order))
            x[: indexed.owned] = pair[0][...] = (np.arange(indexed.owned) + first).reshape(-1, *[1] * len(shape))
            ph.Exchange(indexed, x, pair)()
            assert (x[indexed.owned :] == pair[1]).all()
            if indexed.ghosts:
                assert (x[-1] == (first + 3) % sum(cells)).all()


def test_ranks_whose_arrays_lie_otherwise_exchange_them():
    domain = ph.CartesianDomain((4 * COMM.size,), halo=1, periodic=True, process_grid=(COMM.size,), blocks_per_rank=(3,))
    arrays = domain.zeros("i8", (2, 2), on_last("F", "C"))
    for array, block in zip(arrays, domain.blocks, strict=True):
        array.owned[...] = np.arange(block[0].start, block[0].stop).reshape(-1, 1, 1) * 10 + [[1, 2], [3, 4]]
    ph.Exchange(domain, arrays)()
    for array, block in zip(arrays, domain.blocks, strict=True):
        ids = np.arange(block[0].start - 1, block[0].stop + 1) % (4 * COMM.size)
        assert np.array_equal(array, ids.reshape(-1, 1, 1) * 10 + [[1, 2], [3, 4]])


def test_wrong_options_of_an_exchange_are_refused():
    domain = ph.CartesianDomain((6,), halo=1, periodic=True)
    u = domain.zeros()
    refused(ValueError, ph.Exchange, domain, u, transport="pigeon", says="pigeon")
    refused(TypeError, ph.Exchange, domain, u, transport=on_last(5, None), says="transport")
    refused(ValueError, ph.Exchange, domain, u, timeout=on_last(-1, 1), says="timeout")
    refused(TypeError, ph.Exchange, domain, u, timeout="soon", says="timeout")
    refused(TypeError, ph.Exchange, u, u, says="HaloArray")


def test_reductions_that_do_not_exist_are_refused():
    domain = ph.CartesianDomain((6,), halo=1, periodic=True)
    refused(ValueError, ph.Exchange(domain, domain.zeros()).reverse, "median", says="median")
    refused(TypeError, ph.Exchange(domain, domain.zeros("S3")).reverse, says="replace")
    refused(TypeError, ph.Exchange(domain, domain.zeros(">f8")).reverse, "sum")
    refused(TypeError, ph.Exchange(domain, domain.zeros("complex64")).begin_reverse, "min")
    refused(TypeError, ph.Exchange(domain, domain.zeros("float32")).reverse, "bit_or")
    ph.Exchange(domain, domain.zeros("S3")).reverse("replace")


def test_a_neighbor_that_does_not_answer_is_named():
    if COMM.size == 1:
        return
    domain = ph.CartesianDomain((4 * COMM.size,), halo=1, periodic=True)
    exchange = ph.Exchange(domain, domain.zeros(), timeout=0.2)
    if COMM.rank == 0:
        try:
            exchange()
        except ph.ExchangeTimeoutError as error:
            assert isinstance(error, TimeoutError)
            assert any(f"rank {neighbor}" in str(error) for neighbor in (1, COMM.size - 1)), error
        else:
            raise AssertionError("rank 1 has not begun")
        try:
            exchange()
        except ph.CommunicationError as error:
            assert "failed" in str(error)
        else:
            raise AssertionError("an exchange that failed was used again")
    COMM.barrier()


if __name__ == "__main__":
    main(globals())

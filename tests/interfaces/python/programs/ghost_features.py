"""Row arrays: views, DLPack, pickles, files, hooks, buffers of the caller, what has moved, and mistakes."""

import pickle
import tempfile
import weakref
from pathlib import Path

import numpy as np
from _ranks import COMM, main, on_last, refused

import parhelion as ph

RANKS = (1, 2, 3)
RANK = COMM.rank
SIZE = COMM.size


def ring(owned=4):
    """Each rank pulls the row before and the row after its own; with one rank these are its own."""
    rows = owned * SIZE
    return ph.GhostMap.pull(owned, [(owned * RANK - 1) % rows, owned * (RANK + 1) % rows])


def folder():
    return Path(COMM.bcast(tempfile.mkdtemp() if RANK == 0 else None))


def filled(map, layout="uniform"):
    if layout == "uniform":
        array = ph.GhostArray(map, (2,), "f8")
        array.owned[:] = map.owned_ids[:, None] + [0.25, 0.5]
    elif layout == "padded":
        array = ph.GhostArray.padded(map, 3, "i4")
        for row, id in enumerate(map.owned_ids):
            array[row] = id + np.arange(id % 4)
    else:
        sizes = map.owned_ids % 3
        array = ph.GhostArray.ragged(map, sizes, np.repeat(map.owned_ids, sizes), dtype=[("id", "i8"), ("c", "S2")])
    ph.fill_ghosts(array)
    return array


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(a[row], b[row]) for row in range(len(a)))


def test_views_have_the_right_shape_and_show_the_same_memory():
    map = ring()
    tensor = ph.GhostArray(map, (3, 3), "f4", alignment=64)
    assert tensor.array.shape == (6, 3, 3) and tensor.array.strides[0] == 64 and len(tensor) == 6
    assert tensor.array.ctypes.data % 64 == 0 and tensor.dtype == np.float32
    tensor.owned[1] = 7
    assert (tensor[1] == 7).all() and np.shares_memory(tensor.owned, tensor.array)
    padded = ph.GhostArray.padded(map, 5, "c16", (2,))
    padded[-1] = np.ones((3, 2))
    assert padded.array.shape == (6, 5, 2) and padded[5].shape == (3, 2) and padded.sizes.tolist() == [0, 0, 0, 0, 0, 3]
    ragged = ph.GhostArray.ragged(map, [1, 0, 2, 1], np.arange(4.0))
    assert ragged.values.shape == (4,) and ragged.offsets.tolist() == [0, 1, 1, 3, 4, 4, 4]
    ragged[2][:] = [8, 9]
    assert ragged.values.tolist() == [0, 8, 9, 3] and ragged[1].shape == (0,)


def test_views_outlive_their_array():
    array = filled(ring())
    view, gone = array.ghosts, weakref.ref(array)
    before = view.copy()
    del array
    assert gone() is None and np.array_equal(view, before)


def test_ragged_rows_do_not_move_under_a_view():
    array = filled(ring(), "ragged")
    view = array[0] if RANK == SIZE - 1 else None
    array.edit()
    refused(ValueError, array.compress, says="views of them exist")
    assert array.editing
    del view
    array.compress()
    assert not array.editing


def test_ragged_rows_do_not_move_under_an_exchange():
    array = filled(ring(), "ragged")
    exchange = ph.GhostExchange(array)
    step = exchange.begin()
    array.edit()
    refused(ValueError, array.compress, says="under way")
    step.end()
    array.compress()


def test_a_rank_that_edits_alone_is_told_so_and_the_others_get_the_rows_of_before():
    array = filled(ring(), "ragged")
    exchange, before = ph.GhostExchange(array), array.values.copy()
    editor = RANK == SIZE - 1
    if editor:
        array.edit()
    for run in (exchange, exchange.begin):
        try:
            step = run()
            told = ""
        except ValueError as error:
            told, step = str(error), None
        assert ("being edited" in told) == editor
        if step is not None:
            step.end()
    assert editor or np.array_equal(array.values, before)
    refused(ValueError, ph.GhostExchange, array, says="being edited")
    if not editor:
        array.edit()
    array.compress()
    exchange.refresh()
    exchange()
    assert np.array_equal(array.values, before)


def test_dlpack_shows_the_same_memory():
    array = filled(ring())
    view = np.from_dlpack(array)
    assert np.shares_memory(view, array.array) and view.shape == array.array.shape
    ragged = ph.GhostArray.ragged(array.map, [1, 2, 0, 1], np.arange(4.0))
    assert np.from_dlpack(ragged).tolist() == [0, 1, 2, 3]
    assert np.shares_memory(np.asarray(array), array.array)


def test_pickled_rows_come_back_on_a_map():
    for layout in ("uniform", "padded", "ragged"):
        array = filled(ring(), layout)
        rows = pickle.loads(pickle.dumps(array))
        assert same(rows.attach(array.map), array) and same(array.copy(), array)
        other = ph.GhostMap.pull(4, [])
        refused(ValueError, rows.attach, other, says="same ids")


def test_saved_rows_come_back_from_one_file_and_from_one_for_each_rank():
    place = folder()
    for layout in ("uniform", "padded", "ragged"):
        array = filled(ring(), layout)
        for path in (place / f"{layout}.h5", place / layout):
            array.save(path)
            back = ph.GhostArray.load(path, array.map)
            assert same(back, array) and back.dtype == array.dtype and back.layout == layout


def test_one_file_is_loaded_by_rows_in_any_order():
    path = folder() / "rows.h5"
    filled(ring(), "ragged").save(path)
    mine = np.arange(RANK, 4 * SIZE, SIZE)[::-1]
    back = ph.GhostArray.load(path, ph.GhostMap.pull(mine, [0]))
    for local, id in enumerate([*mine, 0]):
        assert back[local]["id"].tolist() == [id] * (id % 3), f"row {id}: {back[local]}"


def test_a_rank_reads_its_share_of_the_ids_of_one_file():
    import h5py

    path, read = folder() / "rows.h5", []
    filled(ring(), "ragged").save(path)
    take = h5py.Dataset.__getitem__

    def counted(self, index, *more):
        values = take(self, index, *more)
        read.append(len(values) if self.name in ("/ids", "/sizes") else 0)
        return values

    h5py.Dataset.__getitem__ = counted
    try:
        ph.GhostArray.load(path, ring())
    finally:
        h5py.Dataset.__getitem__ = take
    assert max(read) == 4, read  # of 4 · SIZE


def test_wrong_files_are_refused():
    place = folder()
    map = ring()
    refused(ValueError, ph.GhostArray.load, place / "none.h5", map, says="none.h5")
    refused(ValueError, ph.GhostArray.load, place / "none", map, says="none")
    if RANK == 0:
        (place / "text.h5").write_text("no HDF5")
    COMM.Barrier()
    refused(ValueError, ph.GhostArray.load, place / "text.h5", map, says="text.h5")
    filled(map).save(place / "rows.h5")
    refused(ValueError, ph.GhostArray.load, place / "rows.h5", ph.GhostMap.pull(5, []), says="does not have all of the map's rows")
    refused(ValueError, filled(map).save, "/proc/no/rows.h5", says="/proc/no")


QUARTER = np.array([[0.0, -1], [1, 0]])


def turn_on_arrival(exchange, array, ghost, matrix):
    def turn(by):
        array.ghosts[ghost] = by @ array.ghosts[ghost]

    exchange.on_arrival(lambda: turn(matrix), reverse=lambda: turn(matrix.T))


def test_a_reverse_exchange_turns_contributions_back():
    map = ring()
    x, y = ph.GhostArray(map, 2), ph.GhostArray(map, 2)
    draw = np.random.default_rng(RANK)
    forward, back = ph.GhostExchange(x), ph.GhostExchange(y)
    turn_on_arrival(forward, x, 1, QUARTER)
    turn_on_arrival(back, y, 1, QUARTER)
    x.owned[:] = draw.integers(-9, 9, (4, 2))
    y.ghosts[:] = draw.integers(-9, 9, (2, 2))
    forward()
    sent = y.ghosts.copy()
    back.reverse("sum")
    assert np.array_equal(y.ghosts, sent), "ghosts keep their values"
    assert COMM.allreduce((x.ghosts * sent).sum()) == COMM.allreduce((x.owned * y.owned).sum())


def test_hooks_run_in_order_and_their_errors_arrive():
    array, calls = filled(ring()), []
    exchange = ph.GhostExchange(array)
    exchange.on_arrival(lambda: calls.append("first"))
    exchange.on_arrival(lambda: calls.append("second"), reverse=lambda: None)
    with exchange.begin():
        calls.append("meanwhile")
    assert calls == ["meanwhile", "first", "second"]
    refused(ValueError, exchange.reverse, says="none was given for the way back")
    exchange()
    failing = ph.GhostExchange(array)
    failing.on_arrival(lambda: 1 / 0)
    refused(ZeroDivisionError, failing)
    refused(TypeError, exchange.on_arrival, 7, says="function")


def test_two_arrays_of_the_caller_are_used_in_place_and_can_be_exchanged_for_others():
    map = ring()
    owned, ghosts = np.arange(4.0) + 4 * RANK, np.zeros(2)
    array = ph.GhostArray.over(map, owned, ghosts)
    exchange = ph.GhostExchange(array)
    exchange()
    assert np.array_equal(ghosts, map.ghost_ids) and array[-1] == ghosts[1] and array[0] == owned[0]
    refused(ValueError, lambda: owned.resize(9, refcheck=False), says="resize")
    other, son = owned + 100, np.zeros(2)
    array.rebind(other, son)
    refused(ValueError, exchange, says="refresh")
    exchange.refresh()
    exchange()
    assert np.array_equal(son, map.ghost_ids + 100.0) and np.array_equal(ghosts, map.ghost_ids)
    refused(ValueError, array.rebind, on_last(np.zeros(3), other), son, says="owned")
    refused(ValueError, array.rebind, on_last(np.zeros(4, "f4"), other), on_last(np.zeros(2, "f4"), son), says="rebound")


def test_wrong_maps_are_refused_on_every_rank():
    pull, push = ph.GhostMap.pull, ph.GhostMap.push
    refused(ValueError, pull, 3, on_last([3 * SIZE], []), says="outside")
    refused(TypeError, pull, on_last("3", 3), says="owned")
    refused(TypeError, pull, 3, on_last([0.5], []), says="whole numbers")
    refused(ValueError, push, 3, on_last([3], []), on_last([0], []), says="not owned")
    refused(ValueError, push, 3, on_last([2**40], []), on_last([0], []), says="not owned")
    refused(ValueError, push, 3, on_last([0], []), on_last([SIZE], []), says="does not exist")
    refused(ValueError, push, 3, on_last([0, 1], []), on_last([0], []), says="one rank for each cell")
    if SIZE > 1:
        refused(ValueError, pull, on_last([99], 3), says="same on every rank")
    refused(TypeError, pickle.dumps, pull(3), says="pickled")


def test_wrong_arrays_are_refused_on_every_rank():
    map = ring()
    refused(TypeError, ph.GhostArray, map, (), on_last(object, "f8"), says="Python objects")
    refused(ValueError, ph.GhostArray, map, on_last((2, 0), (2, 1)), says="components")
    refused(ValueError, ph.GhostArray, map, (), alignment=on_last(3, 8), says="power of two")
    refused(TypeError, ph.GhostArray, 7, says="GhostMap")
    refused(ValueError, ph.GhostArray.padded, map, on_last(0, 2), says="entries")
    refused(ValueError, ph.GhostArray.ragged, map, on_last([1], [1] * 4), says="sizes")
    refused(ValueError, ph.GhostArray.ragged, map, on_last([-1] * 4, [1] * 4), says="negative")
    refused(ValueError, ph.GhostArray.ragged, map, [1] * 4, on_last([1.0], [1.0] * 4), says="add up")
    refused(ph.ResourceError, ph.GhostArray, ph.GhostMap.pull(2**20), (2**26,), says="memory")
    refused(ValueError, ph.GhostArray.over, map, on_last(np.zeros(3), np.zeros(4)), np.zeros(2), says="owned")
    padded = filled(map, "padded")
    refused(ValueError, padded.__setitem__, 0, [1] * 4, says="do not fit")
    refused(IndexError, padded.__getitem__, 6, says="does not exist")
    padded.sizes[0] = 9
    refused(ValueError, padded.__getitem__, 0, says="from 0 to 3")
    ragged = filled(map, "ragged")
    refused(ValueError, ragged.compress, says="edit")
    refused(ValueError, ragged.__setitem__, 0, np.zeros(7, ragged.dtype), says="edit")


def test_wrong_exchanges_are_refused_on_every_rank():
    array, other = filled(ring()), filled(ring())
    refused(TypeError, ph.GhostExchange, says="GhostArray")
    refused(ValueError, ph.GhostExchange, array, other, says="another map")
    refused(TypeError, ph.GhostExchange, array, on_last(np.zeros(3), array), says="pass GhostArrays")
    refused(TypeError, ph.GhostExchange, array, transport=on_last(7, None), says="transport")
    refused(ValueError, ph.GhostExchange, array, transport="pigeon", says="pigeon")
    if SIZE > 1:
        mixed = ph.GhostArray(array.map, (), on_last("f4", "f8"))
        refused(ValueError, ph.GhostExchange, mixed, says="differ")
    texts = ph.GhostArray(array.map, (), "S4")
    exchange = ph.GhostExchange(texts)
    refused(TypeError, exchange.reverse, "sum", says="cannot be combined")
    refused(ValueError, exchange.reverse, "mean", says="mean")
    exchange.reverse("replace")
    ragged = filled(array.map, "ragged")
    with ragged.edit():
        refused(ValueError, ph.GhostExchange, ragged, says="edited")
    step = exchange.begin()
    refused(ValueError, exchange.begin, says="under way")
    refused(ValueError, exchange.refresh, says="under way")
    step.end()
    refused(ValueError, step.end, says="ended")


def test_a_reverse_exchange_takes_a_function_of_the_program():
    map = ring()
    array = ph.GhostArray(map, (2,), "f8")
    array.owned[:] = [[10 + row, 1] for row in range(4)]
    array.ghosts[:] = [[RANK, 5], [12, RANK]]
    exchange = ph.GhostExchange(array)
    exchange.reverse(ph.Reduction(np.fmin, "f8"))
    before, after = (RANK - 1) % SIZE, (RANK + 1) % SIZE
    assert array.owned[0].tolist() == [10, min(1, before)] and array.owned[3].tolist() == [min(13, after), 1]

    def fails(a, b):
        raise KeyError("no")

    with exchange.begin_reverse(ph.Reduction(np.fmax, "f8")):
        pass
    assert array.owned[0].tolist() == [12, max(min(1, before), before)]
    refused(KeyError, exchange.reverse, ph.Reduction(fails, "f8"))
    refused(TypeError, exchange.reverse, ph.Reduction(np.fmin, "f4"))


def test_padded_rows_are_summed_in_all_their_room_and_keep_their_sizes():
    map = ring()
    array = ph.GhostArray.padded(map, 2, "i8")
    for row in range(len(array)):
        array[row] = [1, 10][: 1 + row % 2]
    exchange = ph.GhostExchange(array)
    sizes = array.sizes.copy()
    exchange.reverse("sum")
    assert np.array_equal(array.sizes, sizes)
    first, last = array.array[0].tolist(), array.array[3].tolist()
    assert first == [1 + 1, 0 + 10] and last == [1 + 1, 10 + 0], (first, last)


if __name__ == "__main__":
    main(globals())

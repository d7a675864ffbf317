"""Arrays on a device, as other libraries tell of them, over the driver that PARHELION_CUDA or PARHELION_HIP names (tests/device/against_us.cpp)."""

import ctypes
import os

import numpy as np
from _ranks import COMM, main, on_last, refused

import parhelion as ph

DRIVER = ctypes.CDLL(os.environ.get("PARHELION_TEST_DRIVER") or os.environ["PARHELION_CUDA"])
DRIVER.against_us_seen.restype = ctypes.c_void_p
DRIVER.against_us_make_current()
DEVICE_TYPE = 10 if os.environ.get("PARHELION_HIP") else 2  # of DLPack
POINTER_OF = ctypes.pythonapi.PyCapsule_GetPointer
POINTER_OF.restype, POINTER_OF.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Interface:
    """An array that has the CUDA Array Interface. Touching its memory ends the process; `values` show it otherwise."""

    def __init__(self, shape, dtype="f8"):
        size, address = int(np.prod(shape)) * np.dtype(dtype).itemsize, ctypes.c_ulonglong()
        assert size == 0 or DRIVER.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        self.address, self.told = address.value, 1  # its stream: the default one
        memory = DRIVER.against_us_seen(ctypes.c_void_p(self.address)) if size else None
        self.values = np.ndarray(shape, dtype, (ctypes.c_char * size).from_address(memory) if size else bytearray())

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.values.shape, "typestr": self.values.dtype.str, "data": (self.address, False), "version": 3, "stream": self.told}


class DLPack:
    """The same of an array that has DLPack alone."""

    def __init__(self, shape, dtype="f8"):
        self.array = Interface(shape, dtype)
        self.values, self.stream = self.array.values, -1

    def __dlpack_device__(self):
        return DEVICE_TYPE, 0

    def __dlpack__(self, *, stream=None):
        self.stream = stream
        capsule = self.values.__dlpack__()
        tensor = POINTER_OF(capsule, b"dltensor")
        ctypes.c_void_p.from_address(tensor).value = self.array.address
        ctypes.c_int.from_address(tensor + 8).value = DEVICE_TYPE
        return capsule


class Stream:
    def __init__(self):
        self.handle = ctypes.c_void_p()
        assert DRIVER.cuStreamCreate(ctypes.byref(self.handle), 1) == 0

    def __cuda_stream__(self):
        return 0, self.handle.value

    def copy(self, source, target):
        bytes_ = ctypes.c_size_t(source.values.nbytes)
        assert DRIVER.cuMemcpyDtoDAsync_v2(ctypes.c_ulonglong(target.address), ctypes.c_ulonglong(source.address), bytes_, self.handle) == 0

    def wait(self):
        assert DRIVER.cuStreamSynchronize(self.handle) == 0


DOMAIN = ph.CartesianDomain((4 * COMM.size, 6), halo=1, periodic=True, process_grid=(COMM.size, 1))
ROWS, COLUMNS = np.meshgrid(np.arange(-1, 5), np.arange(-1, 7), indexing="ij")
WANTED = 10.0 * ((4 * COMM.rank + ROWS) % (4 * COMM.size)) + COLUMNS % 6


def filled(kind, more=0.0):
    """Owned cells as they are to be, and ghosts that are not."""
    array = kind((6, 8))
    array.values[...] = -1
    array.values[1:-1, 1:-1] = WANTED[1:-1, 1:-1] + more
    return array


def test_arrays_are_exchanged_in_place():
    for kind in Interface, DLPack:
        u, v = filled(kind), filled(kind, 0.5)
        exchange = ph.Exchange(DOMAIN, u)
        exchange()
        exchange(v)
        assert (u.values == WANTED).all() and (v.values == WANTED + 0.5).all()
        assert getattr(u, "stream", -1) == -1, "exchanges follow streams themselves"
        assert exchange.arrays[0] is u and "on device" in exchange.explain() and "on a device" in repr(exchange.kept_alive)
        exchange.reverse("sum", u)
        assert COMM.allreduce(u.values[1:-1, 1:-1].sum()) == COMM.allreduce(WANTED.sum())


def test_several_arrays_components_and_subsets():
    u, vector = filled(Interface), DLPack((6, 8, 3), "f4")
    vector.values[...] = -1
    vector.values[1:-1, 1:-1] = WANTED[1:-1, 1:-1, None] + [0, 100, 200]
    exchange = ph.Exchange(DOMAIN, u, vector)
    exchange.only(fields=[1])()
    assert (vector.values == (WANTED[..., None] + [0, 100, 200]).astype("f4")).all() and u.values[0, 0] == -1


def test_index_maps_with_a_rank_that_owns_nothing():
    last = COMM.rank == COMM.size - 1 > 0
    owned = 0 if last else 3
    for wanted in [1] if COMM.rank else [], [1] if COMM.rank and not last else []:
        domain = ph.IndexedDomain(owned, wanted)
        cells, ghosts = Interface((owned,)), Interface((domain.size - owned,))
        cells.values[...] = np.arange(owned)
        ph.Exchange(domain, (cells, ghosts))()
        assert (ghosts.values == 1).all()


def test_exchanges_are_ordered_with_streams():
    made, u, seen, stream = Interface((6, 8)), Interface((6, 8)), Interface((6, 8)), Stream()
    exchange = ph.Exchange(DOMAIN, u)
    for time in range(12):
        DRIVER.against_us_seed(ctypes.c_ulonglong(time))
        made.values[...] = filled(Interface, time).values
        stream.copy(made, u)
        if time % 3 == 0:
            exchange(stream=stream)
        elif time % 3 == 1:
            exchange(u, stream=stream.handle.value)
        else:
            with exchange.begin(u, stream=stream):
                pass
        stream.copy(u, seen)
        stream.wait()
        assert (seen.values == WANTED + time).all()
    made.values[...] = 1
    stream.copy(made, u)
    exchange.begin_reverse("sum", stream=stream).end()
    stream.copy(u, seen)
    stream.wait()
    assert seen.values[1:-1, 1:-1].sum() == u.values.size


def test_exchanges_follow_the_streams_that_arrays_tell_of():
    made, u, seen, ours, theirs = Interface((6, 8)), Interface((6, 8)), Interface((6, 8)), Stream(), Stream()
    u.told = theirs.handle.value
    for time in range(12):
        DRIVER.against_us_seed(ctypes.c_ulonglong(time))
        made.values[...] = filled(Interface, time).values
        theirs.copy(made, u)
        if time % 3 == 0:
            exchange = ph.Exchange(DOMAIN, u, transport=None if time else "mpi")
            exchange(stream=ours)
        elif time % 3 == 1:
            exchange(u, stream=ours)
        else:
            exchange.begin(u, stream=ours.handle.value).end()
        ours.copy(u, seen)
        ours.wait()
        assert (seen.values == WANTED + time).all()
    for u.told in None, 1, 2, ours.handle.value:
        exchange(u, stream=ours)
    ours.wait()
    u.told = 0
    refused(ValueError, exchange, u, stream=ours, says="stream 0")
    refused(ValueError, ph.Exchange, DOMAIN, on_last(u, seen), says="stream 0")


def test_what_cannot_be_is_refused():
    u, host = filled(Interface), DOMAIN.zeros()
    on_device, on_host = ph.Exchange(DOMAIN, u), ph.Exchange(DOMAIN, host)
    refused(ValueError, on_device, np.zeros((6, 8)), says="an array is in the host's memory")
    refused(TypeError, on_host, DLPack((6, 8)), says="pass an array in host memory")
    refused(TypeError, on_host, u, says="pass a NumPy array")
    refused(ValueError, ph.Exchange, DOMAIN, u, host, says="fields in device and in host memory: make one for each")
    refused(ValueError, ph.Exchange, DOMAIN, u, transport="shared+mpi", says="use mpi")
    refused(TypeError, on_device, stream="s", says="a stream is its address")
    refused(ValueError, on_device.reverse, ph.Reduction(np.maximum, "float64"), says="does not run on a device")
    refused(ValueError, on_device.stale, says="copy them to the host")
    ids = ph.IndexMap(ph.IndexedDomain(2, []))
    refused(TypeError, ids.forward, Interface((2,)), says="pass a NumPy array")
    stream = Stream()
    DRIVER.against_us_capture(stream.handle, 1)
    for call in on_device, on_device.begin, on_device.reverse, on_device.begin_reverse:
        refused(ValueError, call, stream=stream, says="is captured into a graph")
        refused(ValueError, call, says="is captured into a graph")
    DRIVER.against_us_capture(stream.handle, 0)
    step = on_device.begin(stream=stream)
    DRIVER.against_us_capture(stream.handle, 1)
    refused(ValueError, step.end, says="is captured into a graph")
    DRIVER.against_us_capture(stream.handle, 0)
    step.end()
    stream.wait()
    masked = type("Masked", (), {"__cuda_array_interface__": {**u.__cuda_array_interface__, "mask": u}})()
    refused(TypeError, ph.Exchange, DOMAIN, on_last(masked, u), says="mask")
    on_device()
    assert (u.values == WANTED).all()


if __name__ == "__main__":
    main(globals())

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
    refused(ValueError, make, (4, 4), algorithm="fast", says="'staged'")
    refused(ValueError, make, (4, 4), neighbors="faces", algorithm="staged", says="staged")
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
    refused(ValueError, domain.zeros, halo=2, says="halo")
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
    many = [domain.zeros()] * on_last(2, 1)
    refused(ValueError, ph.Exchange, domain, *many, says="differ")
    refused(ValueError, ph.Exchange, domain, domain.zeros(), transport=on_last("mpi_p2p", "mpi_persistent"), says="differ")


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

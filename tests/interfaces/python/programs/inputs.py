"""What may be passed as an array, and what exchanges and patterns tell about themselves."""

import array
import pathlib
import shutil
import tempfile

import meshio
import numpy as np
from _oracle import grid_sample
from _ranks import COMM, main, on_last, refused

import parhelion as ph
from parhelion.mesh.maps import read_index_maps
from parhelion.mesh.partition import partition_mesh

RANKS = (1, 2, 3)


class Foreign:
    """An array of another library, seen through DLPack alone."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


class OnDevice(Foreign):
    def __dlpack__(self, **options):
        raise BufferError("device 2:0 is not the host")


def line():
    return ph.CartesianDomain((6,), halo=1, periodic=True)


def test_dlpack_objects_are_filled_in_place():
    domain = line()
    sample = grid_sample(domain, 0, domain.halo, np.dtype("float32"))
    foreign = Foreign(sample.view)
    exchange = ph.Exchange(domain, foreign)
    exchange()
    sample.check("DLPack")
    assert exchange.arrays[0] is foreign


def test_dlpack_objects_that_cannot_be_written_are_refused():
    domain = line()
    frozen = np.zeros(domain.array_shape())
    frozen.flags.writeable = False
    refused(ValueError, ph.Exchange, domain, on_last(Foreign(frozen), domain.zeros()), says="read-only")
    refused(TypeError, ph.Exchange, domain, on_last(OnDevice(frozen), domain.zeros()), says="host memory")


def test_objects_with_a_buffer_are_filled_in_place():
    domain = line()
    values = array.array("d", [0.0] * domain.array_shape()[0])
    first = domain.owned[0].start
    for i in range(1, len(values) - 1):
        values[i] = first + i - 1
    ph.Exchange(domain, values)()
    assert values[0] == (first - 1) % 6 and values[-1] == domain.owned[0].stop % 6


def test_an_exchange_tells_about_itself():
    domain = ph.CartesianDomain((2 * COMM.size, 4, 4), halo=1, periodic=True, process_grid=(COMM.size, 1, 1))
    u, v = domain.zeros("float32"), domain.zeros("float64")
    exchange = ph.Exchange(domain, u, v, transport="mpi", timeout=60)
    assert exchange.transport == "mpi" and "mpi" in exchange.explain() and "mpi" in repr(exchange)
    assert exchange.messages_sent() == exchange.messages_sent("reverse") == len(exchange.pattern.neighbor_ranks)
    assert (exchange.bytes_sent() > 0) == (COMM.size > 1)
    refused(ValueError, exchange.bytes_sent, "sideways", says="forward")


def test_a_pattern_is_shared_and_printed():
    for domain in (line(), ph.IndexedDomain(3, [(3 * COMM.rank + 4) % (3 * COMM.size)] if COMM.size > 1 else [])):
        pattern = ph.build_pattern(domain)
        assert f"rank {COMM.rank} of {COMM.size}" in str(pattern)
        u, v = domain.zeros(), domain.zeros()
        u[...] = v[...] = COMM.rank + 1
        ph.Exchange(pattern, u)()
        ph.Exchange(pattern, v)()
        assert np.array_equal(u, v)


def test_links_list_what_travels():
    domain = ph.IndexedDomain(2, [(2 * COMM.rank + 2) % (2 * COMM.size)] if COMM.size > 1 else [])
    stages = ph.build_pattern(domain).stages()
    assert len(stages) == 1
    for link in stages[0]:
        for cell in link.send:
            assert 0 <= cell < domain.owned
        assert domain.ghost_owners[link.receive - domain.owned].tolist() == [link.rank] * len(link.receive)
    grid = ph.build_pattern(line()).stages()[0]
    received = sum(cells[0].stop - cells[0].start for link in grid for _, cells in link.receive)
    assert received == 2


def test_keys_of_a_partition_say_what_its_ids_are_in_the_mesh_file():
    folder = pathlib.Path(COMM.bcast(tempfile.mkdtemp() if COMM.rank == 0 else None))
    if COMM.rank == 0:
        strip = np.arange(2 * COMM.size + 2)
        points = np.column_stack([strip // 2, strip % 2, 0 * strip]).astype(float)
        mesh = meshio.Mesh(points, [("triangle", np.column_stack([strip[:-2], strip[1:-1], strip[2:]]))])
        partition_mesh(mesh, COMM.size, entities=["cells", "edges"], out=folder, name="disk")
    COMM.barrier()
    for name in "disk", "disk-edges":
        parts = folder / f"{name}-{COMM.size}"
        expected = read_index_maps(parts).keys_of(COMM.rank)
        assert (ph.read_partition_keys(parts) == expected).all() and len(expected) == ph.read_partition(parts)[0]
    COMM.barrier()
    file = parts / f"keys{COMM.size:03d}"  # of the last rank
    whole = file.read_bytes()
    for content, says in (
        (whole[:12], "before its first two numbers"), (whole[:-1], "does not have the size of"), (whole + b"x", "does not have the size of"),
        (b"\7" + whole[1:], "does not have the header"), (whole[:8] + bytes(8) + whole[16:], "does not have the header"),
        (whole[:15] + b"\x40" + whole[16:], "does not have the header"),
        *[(b"\1" + whole[1:], "what is numbered is 3 on rank 0 and 1 on rank")] * (COMM.size > 1), (None, "has no keys"),
    ):
        COMM.barrier()
        if COMM.rank == 0:
            file.unlink() if content is None else file.write_bytes(content)
        COMM.barrier()
        refused(ValueError, ph.read_partition_keys, parts, says=says)


def test_a_partition_in_the_published_layout_is_read():
    folder = pathlib.Path(COMM.bcast(tempfile.mkdtemp(suffix=f"-{COMM.size}") if COMM.rank == 0 else None))
    ghosts = [4 * rank + 1 for rank in range(COMM.size) if rank != COMM.rank]
    data = np.array([4, len(ghosts), *[i + 1 for i in ghosts]], "<i4")
    data.tofile(folder / f"data{COMM.rank + 1:03d}")
    COMM.barrier()
    owned, wanted = ph.read_partition(folder)
    assert owned == 4 and wanted.tolist() == ghosts
    refused(ValueError, ph.read_partition_keys, folder, says="has no keys")
    refused(ValueError, ph.read_partition, folder / "data001", says="is not a folder")
    domain = ph.IndexedDomain(owned, wanted)
    x = domain.zeros("int32")
    x.owned[:] = np.arange(4) + domain.first
    ph.Exchange(domain, x)()
    assert x.ghosts.tolist() == ghosts
    COMM.barrier()
    if COMM.rank == 0:
        (folder / f"data{COMM.size:03d}").unlink()
    COMM.barrier()
    refused(ValueError, ph.read_partition, folder, says=f"data{COMM.size:03d}")
    if COMM.rank == 0:
        shutil.rmtree(folder)


def test_the_environment_of_an_array_domain_can_be_asked():
    domain = ph.CartesianDomain((10, 7), halo=(1, 2), process_grid=(1, COMM.size), periodic=(False, True))
    assert domain.dimensions == 2 and domain.extents == (10, 7) and domain.halo == ((1, 1), (2, 2))
    assert domain.process_grid == (1, COMM.size) and domain.coordinates == (0, COMM.rank)
    assert domain.coordinates_of(0) == (0, 0) and domain.periodic == (False, True)
    assert domain.neighbors == "full" and domain.algorithm == "standard"
    assert domain.starts[0] == (0, 10) and domain.starts[1][-1] == 7
    assert sum(COMM.allgather(domain.owned[1].stop - domain.owned[1].start)) == 7
    assert ph.choose_process_grid(6, (100, 100, 10)) == (3, 2, 1)


if __name__ == "__main__":
    main(globals())

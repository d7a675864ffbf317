"""What `parhelion place` refuses: sizes that overflow, text that only looks like a number, files without an end."""

import os

import numpy as np
import pytest
from placing import place

from parhelion import placement
from parhelion.placement import Machine, PlacementError
from parhelion.placement.library import integers
from parhelion.placement import Numbering
from parhelion.mesh.mesh import MeshError
from parhelion.mesh.partition import partition_mesh


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cells", "1000000000x1000000000x1000000000", "--topology", "node:2 core:7"], "2^63 - 1"),
        (["--grid", "100000x100000", "--nodes", "4"], "at most 16777216"),
        (["--grid", "4", "--nodes", "1000000000"], "1048576"),
        (["--grid", "4", "--topology", "node:100000000", "--ranks-per-node", "1"], "at most 1048576"),
        (["--grid", "4", "--topology", "node:2 core:²"], "'²' is not a whole number"),
        (["--grid", "4", "--topology", "node:2 core:４"], "'４' is not a whole number"),
        (["--blocks", "node:²x2 core:2x2"], "'²' is not a whole number"),
        (["--grid", "²x2", "--nodes", "2"], "'²' is not a whole number"),
        (["--grid", "1_0x2", "--nodes", "2"], "'1_0' is not a whole number"),
        (["--grid", "4", "--nodes", "٤"], "'٤' is not a whole number"),
        (["--grid", "4x4", "--nodes", "2", "--offsets", "1,²"], "'²' is not a whole number"),
        (["--grid", "4x4", "--nodes", "2", "--offsets", "1,99999999"], "from -1048576 to 1048576"),
        (["--grid", "4", "--topology", "xml:/dev/zero"], "not a regular file"),
        (["--grid", "4", "--topology", "xml:."], "not a regular file"),
    ],
)
def test_input_that_cannot_be_placed_is_refused_at_once(arguments, said):
    refused = place(*arguments)
    assert refused.exit_code == 2, refused.output
    assert said in refused.output


def test_a_topology_longer_than_announced_is_refused(tmp_path):
    (tmp_path / "long.xml").write_text("<topology>")
    os.truncate(tmp_path / "long.xml", 2**26 + 1)
    refused = place("--grid", "4", "--topology", f"xml:{tmp_path / 'long.xml'}")
    assert refused.exit_code == 2
    assert "more than 67108864 bytes" in refused.output


def test_numbers_that_ctypes_would_cut_are_refused():
    with pytest.raises(PlacementError, match="does not fit"):
        integers([2**32])


def test_ranks_that_a_machine_or_a_numbering_lacks_are_refused():
    machine = Machine("node:2 core:4")
    assert machine.unit("core", 7) == 7
    for position in (-1, 8, 2**32):
        with pytest.raises(PlacementError):
            machine.unit("core", position)
    for rank in (-1, 6, 2**32):
        with pytest.raises(PlacementError):
            Numbering((3, 2)).coords(rank)
    with pytest.raises(PlacementError, match="outside"):
        Numbering((3, 2)).rank((0, 2))


@pytest.mark.parametrize("name", ["", "ZYX", "XYZ", "YXZ"])
def test_all_ranks_at_once_are_those_that_are_asked_for_one_by_one(name):
    numbering = Numbering((3, 4, 5), name)
    assert np.array_equal(numbering.ranks(), [[[numbering.rank((x, y, z)) for z in range(5)] for y in range(4)] for x in range(3)])


NAMES = ["", "../../x", "a/b", "x\0y", ".hidden", "-x", "..", "a" * 300, "line\nfeed"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, name):
    import meshio

    mesh = meshio.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [("tetra", [[0, 1, 2, 3]])])
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    with pytest.raises(MeshError, match="give another name"):
        partition_mesh(mesh, 1, out=inner, name=name)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_ranks_and_positions_are_numbers_of_numpy_too():
    placed = placement.place((4, 2), Machine("node:2 core:4"))
    assert placed.point(np.int64(3)) == placed.point(3) and Numbering((3, 2)).coords(np.int32(4)) == Numbering((3, 2)).coords(4)

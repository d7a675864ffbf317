"""The whole job: partition_mesh, the command, the demo mesh."""

import json

import meshio
import numpy as np
import pytest
from click.testing import CliRunner
from partition_meshes import bricks, mixed

from parhelion.cli.main import root
from parhelion.mesh import IndexMapError, MeshError
from parhelion.mesh.demo import demo_mesh, demo_partition
from parhelion.mesh.maps import inspect
from parhelion.mesh.partition import partition_mesh
from parhelion.mesh.maps import read_index_maps
from parhelion.mesh.mesh import read_mesh

pytestmark = pytest.mark.timeout(120)


def test_the_summary_counts_what_the_files_hold(tmp_path):
    summary = partition_mesh(bricks(6, 6, 6), 4, ["cells", "nodes"], out=tmp_path, name="cube")
    assert (summary["cells"], summary["parts"], summary["mesh"]["points"]) == (216, 4, 343)
    assert [maps["size"] for maps in summary["maps"]] == [216, 343]
    for maps in summary["maps"]:
        found = inspect(maps["path"], 4)
        assert all(found[key] == maps[key] for key in ("entities", "size", "owned", "ghosts", "neighbors", "symmetric"))
    expected = ["cube-4", "cube-nodes-4"]
    assert sorted(path.name for path in tmp_path.iterdir()) == expected
    json.dumps(summary)


def test_keys_lead_from_new_numbers_back_to_the_mesh_file(tmp_path):
    source = bricks(5, 4, 3)
    source.write(tmp_path / "block.vtu")
    partition_mesh(tmp_path / "block.vtu", 3, ["cells", "edges"], out=tmp_path)
    cells = read_index_maps(tmp_path / "block-3")
    assert sorted(cells.keys.ravel().tolist()) == list(range(60))
    edges = read_index_maps(tmp_path / "block-edges-3")
    lengths = np.linalg.norm(np.diff(source.points[edges.keys], axis=1), axis=2)
    assert (lengths == 1).all()


def test_cells_and_nodes_of_one_call_belong_to_the_same_parts(tmp_path):
    source = bricks(5, 4, 3)
    partition_mesh(source, 3, ["cells", "nodes"], tmp_path, adjacency="nodes", name="b")
    cells, nodes = (read_index_maps(tmp_path / f"b{kind}-3") for kind in ("", "-nodes"))
    for rank in range(3):
        touched = set(source.cells[0].data[cells.keys_of(rank).ravel()].ravel().tolist())
        held = np.concatenate([nodes.keys_of(rank), nodes.keys[nodes.ghosts[rank]]]).ravel().tolist()
        assert touched <= set(held)


def test_partitioning_again_replaces_what_was_there(tmp_path):
    partition_mesh(bricks(3, 3, 3), 3, out=tmp_path, name="b")
    partition_mesh(bricks(4, 4, 4), 3, out=tmp_path, name="b")
    assert read_index_maps(tmp_path / "b-3").size == len(read_index_maps(tmp_path / "b-3").keys) == 64


@pytest.mark.parametrize("options, what", [
    ({"entities": "corners"}, "entities 'corners': use one of cells"),
    ({"entities": []}, "entities none"),
    ({"adjacency": "edges"}, "adjacency 'edges' is unknown"),
])
def test_unknown_choices_are_refused_before_anything_is_written(options, what, tmp_path):
    with pytest.raises(MeshError, match=what):
        partition_mesh(mixed(), 2, out=tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_something_that_is_no_mesh_is_refused(tmp_path):
    with pytest.raises(MeshError, match="a dict is not a mesh"):
        partition_mesh({}, 2, out=tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(IndexMapError, match="file.*cannot be written"):
        partition_mesh(mixed(), 2, out=tmp_path / "file")


def invoke(*arguments: object):
    return CliRunner().invoke(root, [str(argument) for argument in arguments])


def test_the_command_prints_a_summary_and_writes_its_document(tmp_path):
    mesh, document = tmp_path / "cube.vtk", tmp_path / "summary.json"
    bricks(4, 4, 4).write(mesh)
    result = invoke("partition", mesh, "--parts", 2, "--entities", "faces", "--out", tmp_path, "--json", document)
    assert result.exit_code == 0, result.output
    assert "64 cells (64 hexahedron)" in result.output and "240 faces on 2 ranks" in result.output
    summary = json.loads(document.read_text())
    assert summary["schema"] == "parhelion.partition/1"
    assert read_index_maps(summary["maps"][0]["path"]).size == 240


def test_bad_input_ends_the_command_with_status_2_and_one_line(tmp_path):
    bricks(2, 2, 2).write(tmp_path / "cube.vtk")
    (tmp_path / "file").touch()
    cube = tmp_path / "cube.vtk"
    for arguments in (["nowhere.msh", "--parts", 2], [cube, "--parts", 9], [cube, "--parts", 2, "--entities", "x"],
                      [cube, "--parts", 2, "--out", tmp_path / "file" / "below"]):
        result = invoke("partition", *arguments)
        assert result.exit_code == 2, result.output
        assert result.output.startswith("Error: ") and result.output.count("\n") == 1


def test_data_sets_are_inspected_on_the_command_line(tmp_path):
    partition_mesh(bricks(3, 3, 3), 3, out=tmp_path, name="b")
    partition_mesh(bricks(3, 3, 3), 3, "nodes", tmp_path, name="b")
    sets = [tmp_path / "b-3", tmp_path / "b-nodes-3"]
    inspected = invoke("partition", *sets, "--ranks", 3)
    assert inspected.exit_code == 0 and inspected.output.count(" on 3 ranks") == 2
    assert invoke("partition", *sets, "--ranks", 4).exit_code == 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder that keeps the demo mesh."""
    return tmp_path_factory.mktemp("demo")


def test_the_demo_mesh_is_a_casting_whose_tetrahedra_fill_it_without_overlap(demo):
    path = demo_mesh(demo, cells=6000)
    mesh = read_mesh(path)
    corners = mesh.points[mesh.blocks[0].nodes]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert (volumes > 0).all()
    exact = np.pi * (0.4 * (1 - 6 * 0.14**2) + 0.6 * 0.35**2 - 0.18**2)
    assert abs(volumes.sum() / exact - 1) < 0.03
    assert 4000 < mesh.cells < 9000


def test_the_demo_partition_is_made_once_and_kept_and_made_again_when_damaged(demo):
    folder = demo_partition(demo, 4, cells=6000)
    assert inspect(folder, 4)["symmetric"]
    made = (folder / "data001").stat().st_mtime_ns
    assert demo_partition(demo, 4, cells=6000) == folder
    assert (folder / "data001").stat().st_mtime_ns == made
    (folder / "data002").write_bytes(b"")
    assert inspect(demo_partition(demo, 4, cells=6000))["ranks"] == 4


def test_a_meshio_mesh_with_boundary_cells_is_partitioned_by_its_solids(tmp_path):
    source = meshio.Mesh(mixed().points, mixed().cells)
    summary = partition_mesh(source, 4, out=tmp_path)
    assert summary["cells"] == 4 and summary["mesh"]["left_out"] == {"triangle": 1}

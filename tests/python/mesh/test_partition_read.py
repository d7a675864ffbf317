"""Reading meshes: every format gives the same mesh, and bad files give one clear error."""

import gzip

import meshio
import numpy as np
import pytest
from partition_meshes import mixed, tetrahedra

from parhelion.mesh.mesh import MeshError
from parhelion.mesh.mesh import read_mesh
from parhelion.mesh.mesh import mesh_from_meshio

pytestmark = pytest.mark.timeout(60)

FORMATS = [
    ("gmsh22", "msh"), ("gmsh", "msh"), ("vtk42", "vtk"), ("vtk51", "vtk"), ("vtu", "vtu"), ("exodus", "e"),
    ("xdmf", "xdmf"), ("abaqus", "inp"), ("med", "med"), ("medit", "mesh"),
    ("nastran", "bdf"), ("cgns", "cgns"), ("h5m", "h5m"),
]


@pytest.mark.parametrize("form, suffix", FORMATS)
def test_a_mesh_read_back_from_a_file_is_the_mesh_that_was_written(form, suffix, tmp_path):
    source = tetrahedra(40, seed=3)
    path = tmp_path / f"block.{suffix}"
    source.write(path, file_format=form)
    mesh = read_mesh(path)
    assert (mesh.name, mesh.dimension) == ("block", 3)
    assert (mesh.blocks[0].nodes == source.cells[0].data).all()


def test_cells_of_lower_dimension_are_left_out_and_counted():
    mesh = mesh_from_meshio(mixed())
    assert mesh.cell_types == {"hexahedron": 1, "pyramid": 1, "wedge": 1, "tetra": 1}
    assert mesh.left_out == {"triangle": 1}


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(MeshError, match="nowhere.msh: no such mesh file"):
        read_mesh(tmp_path / "nowhere.msh")


def test_a_folder_is_not_a_mesh(tmp_path):
    with pytest.raises(MeshError, match="not a regular file"):
        read_mesh(tmp_path)


@pytest.mark.parametrize("suffix", ["msh", "vtk", "vtu", "e", "xdmf", "inp", "med", "mesh", "cgns", "unknown"])
@pytest.mark.parametrize("content", [b"", b"this is no mesh\n", bytes(range(256)) * 8, gzip.compress(b"x" * 100)], ids=["empty", "text", "bytes", "gzip"])
def test_a_file_of_rubbish_gives_one_error_that_names_it(suffix, content, tmp_path, capsys):
    path = tmp_path / f"rubbish.{suffix}"
    path.write_bytes(content)
    with pytest.raises(MeshError, match=rf"rubbish\.{suffix}"):
        read_mesh(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("form, suffix", FORMATS)
def test_a_mesh_file_cut_in_half_is_refused_or_read_as_cells_that_exist(form, suffix, tmp_path):
    path = tmp_path / f"block.{suffix}"
    tetrahedra(40, seed=3).write(path, file_format=form)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    try:
        mesh = read_mesh(path)
    except MeshError as error:
        assert f"block.{suffix}: " in str(error)
    else:
        assert mesh.cells and all(block.nodes.max() < len(mesh.points) for block in mesh.blocks)


def test_a_cell_that_names_a_point_which_is_not_there_is_refused():
    for bad in (4, -1):
        broken = meshio.Mesh(np.zeros((4, 3)), [("tetra", [[0, 1, 2, 3], [0, 1, 2, bad]])])
        with pytest.raises(MeshError, match=f"tetra 1 names point {bad}, but there are 4 points"):
            mesh_from_meshio(broken)


def test_polyhedra_are_refused_by_name():
    cell = [[np.array(face) for face in ([0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3])]]
    with pytest.raises(MeshError, match="'polyhedron4' are not supported"):
        mesh_from_meshio(meshio.Mesh(np.zeros((4, 3)), [("polyhedron4", cell)]))


@pytest.mark.parametrize("cells", [[], [("vertex", [[0], [1]])], [("tetra", np.empty((0, 4), dtype=int))]])
def test_a_mesh_without_cells_is_refused(cells):
    with pytest.raises(MeshError, match="no cells with faces"):
        mesh_from_meshio(meshio.Mesh(np.zeros((2, 3)), cells))


ANNOUNCED = "2000000000"
GREEDY = {
    "two.msh": f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{ANNOUNCED}\n",
    "four.msh": f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {ANNOUNCED} 1 {ANNOUNCED}\n2 1 0 {ANNOUNCED}\n",
}


@pytest.mark.parametrize("name", GREEDY)
def test_a_file_that_announces_more_than_it_can_hold_gets_no_memory_for_it(name, tmp_path):
    import resource

    (tmp_path / name).write_text(GREEDY[name])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MeshError, match="declares more data than its"):
        read_mesh(tmp_path / name)
    assert resource.getrlimit(resource.RLIMIT_AS) == limits

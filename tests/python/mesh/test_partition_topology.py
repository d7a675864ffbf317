"""Faces, edges and nodes of cells, and the dual graph."""

import meshio
import numpy as np
import pytest
from partition_meshes import bricks, mixed, simplex_entities, tetrahedra, triangles

from parhelion.mesh.mesh import MeshError
from parhelion.mesh.partition import dual_graph
from parhelion.mesh.mesh import shape_of
from parhelion.mesh.topology import incidence
from parhelion.mesh.mesh import mesh_from_meshio

pytestmark = pytest.mark.timeout(60)


def neighbors(graph) -> set[tuple[int, int]]:
    pairs = graph.tocoo()
    return set(zip(pairs.row.tolist(), pairs.col.tolist()))


@pytest.mark.parametrize("kind", ["tetra", "pyramid", "wedge", "hexahedron"])
def test_every_solid_obeys_eulers_formula_and_each_edge_lies_on_two_faces(kind):
    shape = shape_of(kind, 8)
    assert shape.corners - len(shape.edges) + len(shape.facets) == 2
    sides = [frozenset((facet[i - 1], facet[i])) for facet in shape.facets for i in range(len(facet))]
    assert sorted(map(sorted, sides)) == sorted(2 * sorted(map(sorted, shape.edges)))


@pytest.mark.parametrize("entities, size", [("faces", 3), ("edges", 2), ("nodes", 1)])
def test_entities_of_tetrahedra_are_all_subsets_of_their_nodes(entities, size):
    source = tetrahedra(60, seed=1)
    found = incidence(mesh_from_meshio(source), entities)
    for cell, expected in enumerate(simplex_entities(source.cells[0].data, size)):
        touched = found.keys[found.touches[[cell]].indices]
        assert {tuple(key) for key in touched.tolist()} == expected
    assert len(np.unique(found.keys, axis=0)) == len(found.keys)


def test_faces_of_triangles_are_their_edges():
    mesh = mesh_from_meshio(triangles(50, seed=2))
    assert (incidence(mesh, "faces").keys == incidence(mesh, "edges").keys).all()


def test_faces_of_lines_are_their_ends_and_a_chain_of_them_is_a_path():
    chain = meshio.Mesh(np.zeros((5, 3)), [("line", [[0, 1], [1, 2], [2, 3], [3, 4]])])
    mesh = mesh_from_meshio(chain)
    assert incidence(mesh, "faces").keys.ravel().tolist() == [0, 1, 2, 3, 4]
    assert neighbors(dual_graph(mesh)) == {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)}


def test_a_grid_of_bricks_has_the_faces_edges_and_neighbors_that_counting_gives():
    nx, ny, nz = 4, 3, 2
    mesh = mesh_from_meshio(bricks(nx, ny, nz))
    faces = (nx + 1) * ny * nz + nx * (ny + 1) * nz + nx * ny * (nz + 1)
    edges = nx * (ny + 1) * (nz + 1) + (nx + 1) * ny * (nz + 1) + (nx + 1) * (ny + 1) * nz
    assert len(incidence(mesh, "faces").keys) == faces
    assert len(incidence(mesh, "edges").keys) == edges
    inner = (nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1)
    assert dual_graph(mesh).nnz == 2 * inner


def test_cells_of_different_shapes_find_the_faces_that_they_share():
    graph = dual_graph(mesh_from_meshio(mixed()))
    assert neighbors(graph) == {(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1)}


def test_a_wedge_written_as_a_hexahedron_has_the_wedges_faces():
    points = np.zeros((8, 3))
    collapsed = meshio.Mesh(points, [("hexahedron", [[0, 1, 2, 2, 3, 4, 5, 5]])])
    wedge = meshio.Mesh(points, [("wedge", [[0, 1, 2, 3, 4, 5]])])
    for entities in ("faces", "edges", "nodes"):
        left, right = (incidence(mesh_from_meshio(mesh), entities).keys for mesh in (collapsed, wedge))
        assert left.tolist() == right.tolist()


def test_curved_cells_are_neighbors_by_their_corners_and_keep_their_middle_nodes():
    cells = [[0, 1, 2, 3, *range(5, 11)], [1, 2, 3, 4, *range(11, 17)]]
    mesh = mesh_from_meshio(meshio.Mesh(np.zeros((17, 3)), [("tetra10", cells)]))
    assert neighbors(dual_graph(mesh)) == {(0, 1), (1, 0)}
    assert len(incidence(mesh, "nodes").keys) == 17
    assert len(incidence(mesh, "faces").keys) == 7


def test_three_triangles_on_one_edge_are_all_neighbors():
    fan = meshio.Mesh(np.zeros((5, 3)), [("triangle", [[0, 1, 2], [0, 1, 3], [0, 1, 4]])])
    assert len(neighbors(dual_graph(mesh_from_meshio(fan)))) == 6


def test_polygons_are_neighbors_across_their_sides():
    cells = [("polygon", [[0, 1, 2, 3, 4]]), ("polygon", [[2, 3, 5]]), ("quad", [[0, 4, 6, 7]])]
    graph = dual_graph(mesh_from_meshio(meshio.Mesh(np.zeros((8, 2)), cells)))
    assert neighbors(graph) == {(0, 1), (1, 0), (0, 2), (2, 0)}


def test_unknown_entities_are_refused():
    with pytest.raises(MeshError, match="'corners' are unknown"):
        incidence(mesh_from_meshio(mixed()), "corners")

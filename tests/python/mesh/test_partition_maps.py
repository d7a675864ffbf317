"""Ownership and ghosts against their definitions, written out slowly."""

import meshio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_meshes import bricks, mixed, simplex_entities, tetrahedra, triangles

from parhelion.mesh.mesh import MeshError
from parhelion.mesh.maps import describe
from parhelion.mesh.partition import dual_graph, edge_cut, index_maps, partition_cells
from parhelion.mesh.partition import fill_empty_parts
from parhelion.mesh.mesh import mesh_from_meshio

pytestmark = pytest.mark.timeout(120)

SIZES = {"nodes": 1, "edges": 2, "faces": 3}
MESHES = {
    "tetrahedra": tetrahedra(80, seed=4),
    "triangles": triangles(80, seed=5),
    "bricks": bricks(5, 4, 3),
    "mixed": mixed(),
}


def partitioned(source: meshio.Mesh, parts: int, entities: str = "cells", adjacency: str = "faces"):
    mesh = mesh_from_meshio(source)
    part = partition_cells(dual_graph(mesh), parts)
    return mesh, part, index_maps(mesh, part, parts, entities, adjacency)


def keys_of_ghosts(maps, rank: int) -> set[tuple[int, ...]]:
    return {tuple(key) for key in maps.keys[maps.ghosts[rank]].tolist()}


def keys_owned(maps, rank: int) -> set[tuple[int, ...]]:
    return {tuple(key) for key in maps.keys_of(rank).tolist()}


def assert_lawful(maps) -> None:
    starts = maps.starts
    for rank, ghosts in enumerate(maps.ghosts):
        assert (np.diff(ghosts) > 0).all()
        owners = maps.owner_of(ghosts)
        assert (owners != rank).all()
        assert ((ghosts >= starts[owners]) & (ghosts < starts[owners + 1])).all()
    assert len(np.unique(maps.keys, axis=0)) == maps.size


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("adjacency, shared", [("faces", 3), ("nodes", 1)])
def test_ghost_cells_are_those_of_others_that_share_a_face_or_node(parts, adjacency, shared):
    source = tetrahedra(70, seed=6)
    cells = simplex_entities(source.cells[0].data, 1)
    _, part, maps = partitioned(source, parts, "cells", adjacency)
    assert_lawful(maps)
    for rank in range(parts):
        own = {cell for cell in range(len(cells)) if part[cell] == rank}
        near = {(c,) for c in range(len(cells)) for o in own if c not in own and len(cells[c] & cells[o]) >= shared}
        assert keys_owned(maps, rank) == {(cell,) for cell in own}
        assert keys_of_ghosts(maps, rank) == near


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("entities", SIZES)
def test_an_entity_belongs_to_one_part_that_touches_it_and_is_a_ghost_of_all_others_that_do(parts, entities):
    source = tetrahedra(70, seed=7)
    touched = simplex_entities(source.cells[0].data, SIZES[entities])
    _, part, maps = partitioned(source, parts, entities)
    assert_lawful(maps)
    by_part = [set().union(*(touched[c] for c in np.flatnonzero(part == rank))) for rank in range(parts)]
    assert sum(len(keys_owned(maps, rank)) for rank in range(parts)) == len(set().union(*by_part))
    for rank in range(parts):
        assert keys_owned(maps, rank) <= by_part[rank]
        assert keys_of_ghosts(maps, rank) == by_part[rank] - keys_owned(maps, rank)


@settings(max_examples=30, deadline=None, print_blob=True)
@given(st.sampled_from(sorted(MESHES)), st.sampled_from(["cells", "faces", "edges", "nodes"]), st.data())
def test_any_assignment_of_cells_to_parts_gives_lawful_maps_even_with_empty_parts(name, entities, data):
    mesh = mesh_from_meshio(MESHES[name])
    parts = data.draw(st.integers(1, 6))
    part = np.array(data.draw(st.lists(st.integers(0, parts - 1), min_size=mesh.cells, max_size=mesh.cells)))
    maps = index_maps(mesh, part, parts, entities)
    assert_lawful(maps)
    assert maps.ranks == parts == len(maps.ghosts)


@pytest.mark.parametrize("adjacency", ["faces", "nodes"])
def test_whoever_reads_cells_from_a_rank_is_read_by_it(adjacency):
    _, _, maps = partitioned(tetrahedra(300, seed=8), 9, "cells", adjacency)
    assert describe(maps)["symmetric"] is True
    edges = {(r, s) for r in range(9) for s in maps.sources(r)[0].tolist()}
    assert edges == {(s, r) for r, s in edges} and edges


def test_borders_are_shared_out_evenly_between_two_parts():
    _, _, maps = partitioned(bricks(16, 16, 16), 2, "nodes")
    border = sum(map(len, maps.ghosts))
    assert border > 100
    assert abs(len(maps.ghosts[0]) - border / 2) < border / 10


@pytest.mark.parametrize("parts", [2, 3, 8, 13, 64])
def test_metis_parts_are_balanced_and_cut_far_fewer_faces_than_chance(parts):
    mesh = mesh_from_meshio(bricks(20, 20, 20))
    graph = dual_graph(mesh)
    part = partition_cells(graph, parts)
    sizes = np.bincount(part, minlength=parts)
    assert sizes.max() <= 1.03 * mesh.cells / parts + 1
    chance = edge_cut(graph, np.random.default_rng(0).permutation(part))
    assert edge_cut(graph, part) < chance / 2


def test_the_edge_cut_counts_pairs_of_neighbors_in_different_parts():
    graph = dual_graph(mesh_from_meshio(bricks(4, 1, 1)))
    assert edge_cut(graph, np.array([0, 0, 1, 1])) == 1
    assert edge_cut(graph, np.array([0, 1, 0, 1])) == 3
    assert edge_cut(graph, np.zeros(4, dtype=int)) == 0


def test_one_part_owns_everything_in_file_order_and_has_no_ghosts():
    for entities in ("cells", "faces", "edges", "nodes"):
        _, _, maps = partitioned(tetrahedra(50, seed=9), 1, entities)
        assert maps.owned.tolist() == [maps.size]
        assert len(maps.ghosts[0]) == 0
        assert maps.keys.tolist() == sorted(maps.keys.tolist())


@pytest.mark.parametrize("source", [bricks(3, 3, 3), bricks(27, 1, 1), mixed()], ids=["cube", "bar", "mixed"])
def test_as_many_parts_as_cells_gives_each_part_one_cell(source):
    mesh = mesh_from_meshio(source)
    part = partition_cells(dual_graph(mesh), mesh.cells)
    assert sorted(part.tolist()) == list(range(mesh.cells))


def test_no_part_of_a_chain_is_empty_however_many_parts_there_are():
    graph = dual_graph(mesh_from_meshio(bricks(30, 1, 1)))
    for parts in range(1, 31):
        assert np.bincount(partition_cells(graph, parts), minlength=parts).min() >= 1


def test_parts_that_metis_left_empty_are_filled_from_the_largest():
    filled = fill_empty_parts(np.array([3, 3, 3, 3, 1, 1]), 5)
    assert sorted(np.bincount(filled, minlength=5).tolist()) == [1, 1, 1, 1, 2]


def test_a_mesh_in_pieces_is_partitioned_too():
    cells = np.arange(40).reshape(10, 4)
    _, _, maps = partitioned(meshio.Mesh(np.zeros((40, 3)), [("tetra", cells)]), 3)
    assert sorted(maps.owned.tolist()) == [3, 3, 4]
    assert all(len(ghosts) == 0 for ghosts in maps.ghosts)


@pytest.mark.parametrize(
    "parts, what", [(0, "at least 1"), (-3, "at least 1"), (61, "at most 60"), (2.5, "whole number")]
)
def test_impossible_numbers_of_parts_are_refused(parts, what):
    with pytest.raises(MeshError, match=what):
        partition_cells(dual_graph(mesh_from_meshio(bricks(5, 4, 3))), parts)


def test_an_adjacency_that_means_nothing_for_nodes_is_refused():
    with pytest.raises(MeshError, match="for cells only"):
        partitioned(mixed(), 2, "nodes", "nodes")


def test_equal_input_gives_equal_output():
    first, second = (partitioned(tetrahedra(200, seed=10), 6, "faces")[2] for _ in range(2))
    assert first.keys.tolist() == second.keys.tolist()
    assert [g.tolist() for g in first.ghosts] == [g.tolist() for g in second.ghosts]

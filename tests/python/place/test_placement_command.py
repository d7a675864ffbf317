"""`parhelion place`: the contract of its document, files, drawings, and refusals."""

import collections

import numpy as np
import pytest
from placement_counting import count, neighborhood
from placing import document, place

from parhelion.placement import Parameters, write_parameters
from parhelion.mesh.maps import write_index_maps
from parhelion.mesh.maps import IndexMaps

HOPS = "0,1;0,-1;1,0;-1,0;2,0;-2,0;3,0;-3,0"
ROWS = [
    # grid, nodes, ranks per node, stencil, periodic, blocked, to reach or beat (Hunold et al. 2020; hwcart)
    ("50x48", 50, 48, "faces", False, (4704, 96), (1204, 28)),
    ("50x48", 50, 48, "full", False, (13916, 284), (3528, 80)),
    ("50x48", 50, 48, HOPS, False, (13824, 288), (3268, 88)),
    ("75x64", 100, 48, "faces", False, (9622, 98), (2654, 30)),
    ("16x15x10", 50, 48, "faces", False, (5508, 118), (3068, 80)),
    ("12x12x12", 27, 64, "faces", True, (4392, 180), (2592, 96)),
    ("64x64x32", 1024, 128, "faces", True, (327680, 320), (163840, 160)),
]


@pytest.mark.parametrize("objective", ["jsum", "jmax"])
@pytest.mark.parametrize(("grid", "nodes", "ranks", "stencil", "periodic", "blocked", "goal"), ROWS)
@pytest.mark.long
def test_every_published_score_is_reached_and_the_document_tells_the_truth(
    grid, nodes, ranks, stencil, periodic, blocked, goal, objective
):
    kind = ["--neighbors", stencil] if stencil in ("faces", "full") else ["--offsets", stencil]
    made = document("--grid", grid, "--nodes", nodes, "--ranks-per-node", ranks, *kind,
                    "--periodic", "yes" if periodic else "no", "--objective", objective)
    shape = tuple(map(int, grid.split("x")))
    assert tuple(made["grid"]) == shape
    assert collections.Counter(made["node_of_rank"]) == dict.fromkeys(range(nodes), ranks)
    units = np.array(made["node_of_rank"]).reshape(shape)
    jsum, jmax = count(units, neighborhood(stencil, len(shape)), [periodic] * len(shape))
    own = made["scores"]["automatic"]["node"]
    assert (own["jsum"], own["jmax"]) == (jsum, jmax)
    assert jsum <= goal[0]
    assert jmax <= goal[1]
    reference = made["scores"]["blocked"]["node"]
    assert (reference["jsum"], reference["jmax"]) == blocked


def test_unequal_ranks_per_node_are_kept():
    made = document("--grid", "7x11", "--nodes", 4, "--ranks-per-node", "30,20,20,7")
    assert collections.Counter(made["node_of_rank"]) == {0: 30, 1: 20, 2: 20, 3: 7}
    assert made["not_applicable"] == {}


def test_every_level_is_scored_for_every_member_that_applies():
    made = document("--grid", "24x12x12", "--topology", "node:27 pack:2 numa:4 l3:4 core:4", "--periodic", "yes")
    assert made["levels"] == ["node", "pack", "numa", "l3", "core"]
    for scores in made["scores"].values():
        assert list(scores) == made["levels"]
    assert made["units"]["l3"] == 27 * 32


def test_the_grid_is_chosen_from_cells():
    made = document("--cells", "768x768x768", "--topology", "node:27 pack:2 numa:4 l3:4 core:4", "--ranks-per-node", 64,
                    "--periodic", "yes")
    assert made["grid"] == [12, 12, 12]
    assert made["scores"]["automatic"]["node"]["jsum_bytes"] > made["scores"]["automatic"]["node"]["jsum"]
    assert document("--cells", "96x96", "--nodes", 3)["node_of_rank"] == [0, 1, 2]  # without a description a node has one rank


def test_pictures_and_rank_files_are_written(tmp_path):
    result = place("--grid", "4x4x2", "--topology", "node:4 core:8", "--picture", tmp_path / "a.svg", "--picture", tmp_path / "a.png",
                   *[f"--rank-file={kind}:{tmp_path / kind}" for kind in ("mpich", "openmpi", "intel", "slurm")],
                   "--host-names", "a,b,c,d")
    assert result.exit_code == 0, result.output
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "slurm").read_text().split()) == 32
    assert (tmp_path / "openmpi").read_text().startswith("rank 0=a slot=0\n")


def test_one_node_is_enough_where_no_number_of_nodes_is_given():
    made = document("--grid", "2x2", "--topology", "here", "--layers", "no")
    assert set(made["node_of_rank"]) == {0}
    made = document("--grid", "4x3", "--topology", "here", "--ranks-per-node", 4)
    assert collections.Counter(made["node_of_rank"]) == {0: 4, 1: 4, 2: 4}


@pytest.mark.parametrize(("ranks", "told"), [(2, "some stay empty"), (6, "some hold several ranks"), (4, "")])
def test_more_or_fewer_ranks_than_cores_are_told(ranks, told):
    result = place("--grid", f"{ranks}x2", "--topology", "node:2 core:4", "--ranks-per-node", ranks)
    assert result.exit_code == 0
    assert (told or "Machine: description 'node:2 core:4'") in result.output
    assert bool(told) == ("parts of level core" in result.output)


def test_the_output_says_where_levels_come_from():
    assert "linux sysfs" in place("--grid", "2", "--topology", "here").output


REFUSED = [
    (["--grid", "5x7", "--nodes", 3], "do not divide evenly over 3 nodes"),
    (["--grid", "5x7", "--nodes", 3, "--ranks-per-node", 12], "35 points, but the machine has 36 ranks"),
    (["--grid", "5x7"], "machine is unknown"),
    (["--nodes", 3], "with --grid or global cells with --cells"),
    (["--grid", "8", "--topology", "node:2 gpu:4"], "level 'gpu' is unknown"),
    (["--grid", "8", "--topology", "xml:/nonexistent", "--nodes", 2, "--ranks-per-node", 4], "cannot read the topology"),
    (["--grid", "8x8", "--nodes", 4, "--offsets", "0,1;1"], "has 1 steps"),
    (["--grid", "8x8", "--nodes", 4, "--offsets", "0,0"], "to the point itself"),
    (["--grid", "8x8", "--nodes", 4, "--extent", "1x2x3"], "one number of at least 1 for each of the 2"),
    (["--grid", "8x8", "--nodes", 4, "--periodic", "yes,no,yes"], "has 3 entries, but the process grid has 2"),
    (["--grid", "8x8", "--nodes", 4, "--picture", "picture.foo"], "give a picture's name one of the extensions .svg, .png, .pdf"),
    (["--grid", "8", "--topology", "core:4 node:2"], "does not start with nodes"),
    (["--grid", "8x8", "--nodes", 4, "--rank-file", "lsf:x"], "no rank file is known"),
    (["--grid", "8x8", "--nodes", 4, "--numbering", "XX", "--layers", "yes"], "does not name each"),
    (["--blocks", "node:2x2 core:2", "--nodes", 4], "different numbers of dimensions"),
    (["--blocks", "node:2x2 core:2x3", "--topology", "node:4 core:4"], "has 2 ranks, but the blocks inside it hold 1"),
    (["--blocks", "node:2x2 flux:2x3", "--nodes", 4], "flux"),
    (["--blocks", "node:2x2", "--nodes", 4, "--cells", "8x8"], "leave out --grid, --cells and --parameters"),
    (["--grid", "8x8", "--nodes", 4, "--parameters", "/nonexistent"], "cannot read the parameters /nonexistent"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_input_that_makes_no_sense_ends_with_one_message(arguments, message):
    result = place(*arguments)
    assert result.exit_code == 2
    assert message in result.output.replace("\n", " ")
    assert "Traceback" not in result.output


def test_the_document_tells_what_goes_between_nodes(tmp_path):
    # Two nodes of 2 x 1 ranks with 4 x 6 cells each, side by side.
    machine = ["--grid", "2x2", "--topology", "node:2 core:2", "--neighbors", "full", "--extent", "4x6", "--bytes-per-cell", 2, "--method", "blocked"]
    made = document(*machine)
    once, pairwise = 2 * 6 * 2, 2 * (6 + 1) * 2  # each rank of a node owes the other a face of six cells, of which one is a corner, too
    assert made["between_nodes"]["blocked"] == {
        "pairwise": {"messages": 8, "bytes": 2 * pairwise, "busiest_messages": 4, "busiest_bytes": pairwise},
        "aggregated": {"messages": 2, "bytes": 2 * once, "busiest_messages": 1, "busiest_bytes": once},
    }
    assert made["node_pairs"] == [{"from": a, "to": 1 - a, "pairs": 4, "bytes_in_pairs": pairwise, "messages": 1, "bytes": once} for a in (0, 1)]
    assert made["predicted_s"] is None and made["objective"] == "jsum"
    unknown = document("--grid", "2x2", "--nodes", 2, "--method", "blocked")["between_nodes"]["blocked"]["aggregated"]
    assert unknown == {"messages": 2, "bytes": None, "busiest_messages": 1, "busiest_bytes": None}
    assert "8 messages and 56 bytes (of the busiest node 4 and 28)" in place(*machine).output.replace("\n", " ")


def test_figures_of_the_model_can_decide(tmp_path):
    write_parameters(Parameters("mine", {"node": 1e-3}, {"node": 1e12}), tmp_path / "figures.json")
    # Few neighboring nodes are worth more than few bytes: rows of nodes have two, blocks of ranks up to eight.
    machine = ["--grid", "16x16", "--nodes", 16, "--ranks-per-node", 16, "--neighbors", "full", "--extent", "8x8"]
    placed = document(*machine, "--parameters", tmp_path / "figures.json")
    usual = document(*machine)
    busiest = [made["between_nodes"]["automatic"]["aggregated"]["busiest_messages"] for made in (placed, usual)]
    assert busiest == [2, 8]
    assert placed["objective"] == "time" and placed["predicted_s"]["automatic"] == pytest.approx(2e-3, rel=1e-3)
    assert "Predicted, µs" in place(*machine, "--parameters", tmp_path / "figures.json").output
    assert "--extent" in place("--grid", "2x2", "--nodes", 2, "--parameters", tmp_path / "figures.json").output


def groups_of_parts(folder, groups=4, size=8):
    """Index maps of groups of parts that all read 50 cells of each other, joined in a ring by 3; parts of a group are `groups` apart."""
    ghosts = []
    for part in range(groups * size):
        mine = [other * 50 + np.arange(50) for other in range(part % groups, groups * size, groups) if other != part]
        beside = [(part // groups * groups + (part + step) % groups) * 50 + np.arange(3) for step in (1, -1)]
        ghosts.append(np.sort(np.concatenate(mine + beside)))
    return write_index_maps(IndexMaps(np.full(groups * size, 50), tuple(ghosts)), folder / f"groups-{groups * size}")


def test_parts_of_a_mesh_are_put_onto_nodes_that_they_talk_within(tmp_path):
    file = groups_of_parts(tmp_path)
    made = document("--graph", file, "--topology", "node:4 pack:2 core:4", "--bytes-per-cell", 2, "--rank-file", f"openmpi:{tmp_path}/ranks")
    nodes = np.array(made["node_of_rank"])
    assert collections.Counter(made["node_of_rank"]) == dict.fromkeys(range(4), 8)
    assert all(len({*nodes[first::4]}) == 1 for first in range(4))
    assert made["scores"]["automatic"]["node"] == {"jsum": 64, "jmax": 16, "jsum_bytes": 64 * 6, "jmax_bytes": 16 * 6}
    assert made["scores"]["blocked"]["node"]["jsum_bytes"] > 64 * 6 and made["seconds"] > 0
    assert made["between_nodes"]["automatic"]["aggregated"] == {"messages": 8, "bytes": 384, "busiest_messages": 2, "busiest_bytes": 96}
    told = (tmp_path / "ranks").read_text().splitlines()
    assert [line.split()[1].split("=")[1] for line in told] == [f"node{node}" for node in nodes]


def test_parts_of_a_data_set_send_each_cell_once_to_a_node(tmp_path):
    # Four ranks own two cells each; all others read cell 1 of rank 0, and rank 3 reads both of rank 2.
    maps = IndexMaps(np.full(4, 2), tuple(np.array(ids) for ids in ([], [0], [0], [0, 4, 5])))
    path = write_index_maps(maps, tmp_path / "few-4")
    made = document("--graph", path, "--topology", "node:2 core:2", "--bytes-per-cell", 4)
    ranks = {node: [rank for rank in range(4) if made["node_of_rank"][rank] == node] for node in (0, 1)}
    assert sorted(ranks.values()) == [[0, 1], [2, 3]]
    assert made["between_nodes"]["automatic"] == {
        "pairwise": {"messages": 2, "bytes": 8, "busiest_messages": 2, "busiest_bytes": 8},
        "aggregated": {"messages": 1, "bytes": 4, "busiest_messages": 1, "busiest_bytes": 4},
    }


def test_a_graph_is_no_grid_and_needs_as_many_ranks_as_parts(tmp_path):
    file = groups_of_parts(tmp_path)
    assert "leave out --grid" in place("--graph", file, "--grid", "8x4", "--nodes", 4).output
    assert "32 parts, but the machine has 16 ranks" in place("--graph", file, "--topology", "node:2 core:8").output.replace("\n", " ")
    assert "no such data set" in place("--graph", tmp_path / "nowhere", "--nodes", 4).output.replace("\n", " ")

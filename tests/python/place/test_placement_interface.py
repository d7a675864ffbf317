"""The Python interface of placement: machines, placements, graphs, communicators."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from parhelion.launch import default_build
from parhelion.placement import Machine, Numbering, PlacementError, Stencil, choose_grid, place, place_by_hand, place_graph


def test_units_positions_and_points_belong_together():
    placement = place((6, 4, 2), Machine("node:3 pack:2 core:8"), "full", periodic=[True, False, True])
    for position in range(48):
        point = placement.point(position)
        assert placement.position(point) == position == placement.positions[point]
        assert placement.units("node")[point] == position // 16
    with pytest.raises(PlacementError, match="outside the process grid"):
        placement.position((6, 0, 0))
    with pytest.raises(PlacementError, match="no level 'l3'"):
        placement.units("l3")


def test_placement_loads_no_mpi():
    loaded = subprocess.run([sys.executable, "-c", "import sys, parhelion.placement; print('mpi4py' in sys.modules)"], capture_output=True, text=True, check=True)
    assert loaded.stdout == "False\n"


def test_one_method_can_be_taken_as_it_is():
    machine = Machine("node:50", ranks_per_node=48)
    assert place((50, 48), machine, method="blocked").scores["node"].jsum == 4704
    assert place((50, 48), machine, method="stencil_strips").scores["node"].jsum == 1224
    with pytest.raises(PlacementError, match="unknown: choose from blocked"):
        place((50, 48), machine, method="magic")
    with pytest.raises(PlacementError, match="does not apply: unequal ranks"):
        place((350, 200), Machine("node:2", ranks_per_node=[40000, 30000]), method="recursive_bisection")


def test_every_method_has_a_row_on_its_page():
    page = (Path(__file__).resolve().parents[3] / "docs/placement.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page.partition("## The methods")[2].partition("\n## ")[0], re.MULTILINE)
    assert rows == [member.name for member in place((4, 4), Machine("node:4", ranks_per_node=4)).members]


def test_weights_and_halo_bytes_are_counted():
    stencil = Stencil.faces(2).with_halo((10, 30), 2, 8)
    assert dict(zip(stencil.offsets, stencil.bytes, strict=True))[(1, 0)] == 2 * 30 * 8
    score = place((4, 4), Machine("node:4", ranks_per_node=4), stencil).scores["node"]
    assert score.jsum_bytes > score.jsum
    with pytest.raises(PlacementError, match="one number of at least 1"):
        Stencil.faces(2).with_halo((1, 2, 3), 1, 8)


def test_a_grid_is_chosen_for_cells():
    grid, stencil = choose_grid(Machine("node:27 core:64"), (768, 768, 768), "full", 2, 4, periodic=True)
    assert grid == (12, 12, 12)
    assert max(stencil.bytes) == 64 * 64 * 2 * 4


def test_numberings_agree_with_numpy():
    grid = (2, 3, 4)
    assert np.array_equal(Numbering(grid).ranks(), np.arange(24).reshape(grid))
    assert np.array_equal(Numbering(grid, "XYZ").ranks(), np.arange(24).reshape(grid, order="F"))
    assert Numbering((2, 1)).ranks().tolist() == [[0], [1]]  # no step along the second dimension


def test_machines_say_where_their_description_comes_from(tmp_path):
    assert "description" in Machine("node:2 core:4").source
    assert Machine("here", nodes=2, ranks_per_node=1).nodes == 2
    if shutil.which("lstopo-no-graphics"):
        file = tmp_path / "node.xml"
        subprocess.run(["lstopo-no-graphics", "-i", "pack:2 numa:2 l3:2 core:4 pu:2", str(file)], check=True)
        machine = Machine(f"xml:{file}", nodes=3, ranks_per_node=32)
        assert machine.levels == ["node", "pack", "numa", "l3", "core", "pu"]
        assert machine.units("l3") == 24
    with pytest.raises(PlacementError, match="does not say how many ranks"):
        Machine("here", nodes=2)


def test_a_graph_of_two_talkative_groups_is_split_between_two_nodes():
    odd, even = range(1, 16, 2), range(0, 16, 2)
    edges = [{q: 100 for q in (odd if p % 2 else even) if q != p} | {(p + 1) % 16: 1} for p in range(16)]
    placed = place_graph(Machine("node:2 pack:2 core:4"), edges)
    nodes = placed.units("node")
    assert sorted(placed.positions.tolist()) == list(range(16))
    assert len({nodes[p] for p in odd}) == len({nodes[p] for p in even}) == 1
    with pytest.raises(PlacementError, match="15 parts, but the machine has 16"):
        place_graph(Machine("node:2 pack:2 core:4"), edges[:15])


PROGRAM = """
import json
from mpi4py import MPI
from parhelion.placement import PlacedComm, Parameters, PlacementError, place_parts
world = MPI.COMM_WORLD
color = world.rank % 2
figures = Parameters("any", {"node": 1e-5}, {"node": 1e9})
placed = PlacedComm(cells=(64, 64), periodic=True, node_color=color, parameters=figures)
between = placed.between_nodes()
assert between.aggregated.messages == 2 and between.aggregated.bytes == between.pairwise.bytes > 0
assert placed.between_nodes(blocked=True).pairwise.messages == 4
assert placed.comm.rank == placed.rank and placed.rank_of(placed.coords) == placed.rank
cart = placed.to_cart()
assert tuple(cart.Get_coords(cart.rank)) == placed.coords
cart.Free()
line = placed.sub([False, True])
assert line.size == placed.grid[1]
line.Free()
refused = False
try:
    PlacedComm(grid=(world.size + 1,))
except PlacementError:
    refused = True
assert refused
try:
    PlacedComm(grid=(world.size,), parameters=figures)
except PlacementError as error:
    refused = "depends on its cells" in str(error)
assert refused
partner = (world.rank + world.size // 2) % world.size
parts = place_parts(world, {partner: 1000}, node_color=world.rank // 2)
colors = parts.allgather(world.rank // 2)
assert colors[0] == colors[world.size // 2]
parts.Free()
report = placed.describe()
if world.rank == 0:
    print(json.dumps({"report": report, "levels": list(placed.scores()), "grid": placed.grid}))
"""


def test_communicators_are_placed_from_python(tmp_path):
    program = tmp_path / "placed.py"
    program.write_text(PROGRAM)
    argv, env, *_ = default_build().launch(4, sys.executable, [str(program)], bind=False)
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert "4 ranks on 2 nodes" in found["report"]
    assert "combined by node: 2 messages of" in found["report"]
    assert found["levels"][0] == "node"
    assert np.prod(found["grid"]) == 4


def test_blocks_by_hand_say_what_does_not_fit():
    with pytest.raises(PlacementError, match="level node are missing"):
        place_by_hand(Machine("node:1 core:4"), {"core": (2, 2)})
    with pytest.raises(PlacementError, match="different numbers of dimensions"):
        place_by_hand(Machine("node:1 core:4"), {"node": (1,), "core": (2, 2)})

"""The real exchange under SimGrid: every ghost right, placement faster where the network decides, refusals by name."""

import json
import shutil
import sys

import pytest
from click.testing import CliRunner

from parhelion.placement import Machine, place
from parhelion.studies.model import Parameters
from parhelion.studies.simulation import launch
from parhelion.studies.simulation.launch import hosts, machine_text, simulate
from parhelion.studies.simulation.program import Program, SimulationError, find_program
from parhelion.studies.simulation.study import published_cells
from parhelion.tools.main import root

pytestmark = pytest.mark.timeout(300)
needs_simgrid = pytest.mark.skipif(not shutil.which("smpirun"), reason="skipped: SimGrid is not here (no smpirun on the path)")
NETWORK = Parameters("a slow network", {"node": 2e-6, "core": 2e-7}, {"node": 1e9}, 2e10)


@pytest.fixture(scope="module")
def program():
    return find_program()


@pytest.fixture(scope="module")
def placement():
    return place((4, 2, 2), Machine("node:4 pack:2 core:2"), "full", periodic=True)


def test_levels_without_figures_are_left_out_of_the_simulated_machine():
    text = machine_text(Machine("node:3 pack:2 numa:4 core:4"), NETWORK)
    assert text == "level node 3 1000000000.0 1e-06\nlevel core 32 inf 1e-07\n"


def test_every_rank_gets_a_host_of_its_own_and_the_numbering_permutes_them(placement):
    last_first, first_first = hosts(placement), hosts(placement, "XYZ")
    assert len(set(last_first)) == placement.machine.size
    assert last_first != first_first
    assert sorted(last_first) == sorted(first_first)


def test_each_of_the_eight_published_cells_has_six_kinds_of_software():
    cells = published_cells()
    assert len(cells) == 8
    assert {len(by_software) for by_software in cells.values()} == {6}


@needs_simgrid
@pytest.mark.parametrize("numbering", ["", "XYZ"])
@pytest.mark.parametrize("extent", [(6, 5, 4), (20, 20, 20)])
def test_every_ghost_is_right_on_simulated_ranks(program, placement, numbering, extent):
    made = simulate(program, placement, NETWORK, [(1, 1), (3, 2)], extent, numbering, iterations=1, check=True)
    assert all(seconds > 0 for seconds in made.seconds.values())


@needs_simgrid
def test_ghosts_in_memory_that_ranks_share_are_found_to_be_wrong(program, placement, monkeypatch):
    start = launch._start
    monkeypatch.setattr(launch, "_start", lambda *arguments: start(*arguments[:-1], False))
    with pytest.raises(SimulationError, match="ghosts are wrong for halo 1, fields 8"):
        simulate(program, placement, NETWORK, [(1, 8)], (56, 56, 56), iterations=1, check=True)


@needs_simgrid
def test_a_network_takes_the_time_that_the_busiest_node_needs(program, placement):
    network = Parameters("network only", {}, {"node": 1e9})
    seconds = simulate(program, placement, network, [(2, 8)], (32, 32, 32), iterations=4).seconds[2, 8]
    expected = network.predict(launch.traffic(placement, launch.Exchange((32, 32, 32), 2, 8, 4)))
    assert seconds == pytest.approx(expected, rel=0.25)


@needs_simgrid
def test_placement_beats_blocked_order_where_the_network_decides(tmp_path):
    done = CliRunner().invoke(root, ["simulate", "--topology", "node:4 core:8", "--ranks-per-node", "8", "--grid", "4x4x2",
                                     "--extent", "24x24x24", "--halo", "2", "--fields", "4", "--numberings", "XYZ",
                                     "--picture", str(tmp_path / "plot.svg"), "--json", str(tmp_path / "out.json")])  # fmt: skip
    assert done.exit_code == 0, done.output
    (cell,) = json.loads((tmp_path / "out.json").read_text())["cells"]
    assert cell["speed_up"] > 1.1
    assert "<svg" in (tmp_path / "plot.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--halo", "1,2", "--fields", "1"], "do not make pairs", 2),
        (["--grid", "3x3x3", "--topology", "node:2 core:4", "--ranks-per-node", "4"], "27 points but the machine 8 ranks", 2),
    ],
)
@needs_simgrid
def test_studies_that_make_no_sense_are_refused(arguments, message, status):
    done = CliRunner().invoke(root, ["simulate", *arguments])
    assert done.exit_code == status
    assert message in done.output.replace("\n", " ")


def test_a_machine_without_simgrid_is_told_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = CliRunner().invoke(root, ["simulate"])
    assert done.exit_code == 3
    assert "apt install libsimgrid-dev" in done.output.replace("\n", " ")


def test_the_memory_of_a_simulation_is_its_own_and_not_that_of_one_before(placement, tmp_path):
    smpirun = tmp_path / "smpirun"
    line = '{"halo": 1, "fields": 1, "seconds": 1.0, "wrong": 0}'
    smpirun.write_text(f"#!{sys.executable}\nimport os, sys\nheld = b'x' * int(os.environ['HELD'])\nprint('''{line}''')\n")
    smpirun.chmod(0o755)
    program, memory = Program(tmp_path / "none", tmp_path / "none", smpirun), []
    for held in (300 * 2**20, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HELD", str(held))
            memory.append(simulate(program, placement, NETWORK, [(1, 1)], (8, 8, 8)).memory_bytes)
    assert memory[0] > 300 * 2**20 > 150 * 2**20 > memory[1] > 0

"""The real exchange under SimGrid: every ghost right, placement faster where the network decides, refusals by name."""

import json
import shutil

import pytest
from click.testing import CliRunner

from parhelion.placement import Machine, place
from parhelion.placement.parameters import Parameters
from parhelion.place.case import Case
from parhelion.place.simgrid import Simulation, SimulationError, TRANSPORTS, find_program, hosts, machine_text
from parhelion.place.simulate import published_cells
from parhelion.cli.main import root

pytestmark = pytest.mark.timeout(900)  # the first builds the program
needs_simgrid = pytest.mark.skipif(not shutil.which("smpirun"), reason="skipped: SimGrid is not installed (Debian: apt install libsimgrid-dev)")
NETWORK = Parameters("a slow network", {"node": 2e-6, "core": 2e-7}, {"node": 1e9}, 2e10)
GRID = (4, 2, 2)


def halo(grid, extent, width=1, fields=1, topology=None):
    return Case(topology, grid=grid, extent=extent, halo=width, fields=fields, bytes_per_cell=4, neighbors="full", periodic=True)


@pytest.fixture(scope="module")
def program():
    return find_program()


@pytest.fixture(scope="module")
def placement():
    return place(GRID, Machine("node:4 pack:2 core:2"), "full", periodic=True)


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
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("numbering", ["", "XYZ"])
@pytest.mark.parametrize("extent", [(6, 5, 4), (20, 20, 20)])
def test_every_ghost_is_right_on_simulated_ranks(program, placement, transport, numbering, extent):
    for width, fields in ((1, 1), (3, 2)):
        assert Simulation(program, NETWORK, verify=True).run(halo(GRID, extent, width, fields), placement, numbering, transport).seconds > 0


@needs_simgrid
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_ghosts_in_memory_that_ranks_share_are_found_to_be_wrong(program, placement, monkeypatch, transport):
    start = Simulation._start
    monkeypatch.setattr(Simulation, "_start", lambda *arguments: start(*arguments[:-1], {**arguments[-1], "PARHELION_FOLD": "1"}))
    with pytest.raises(SimulationError, match="ghosts are wrong for halo 1, fields 8"):
        Simulation(program, NETWORK, iterations=1, verify=True).run(halo(GRID, (56, 56, 56), 1, 8), placement, transport=transport)


@needs_simgrid
def test_where_messages_take_time_by_their_number_what_nodes_owe_goes_sooner_at_once(program):
    """27 nodes, 26 neighbors of each rank of which 19 are on other nodes, against 26 messages of each node that its 8 ranks share."""
    grid = (6, 6, 6)
    placement = place(grid, Machine("node:27 core:8"), "full", periodic=True)
    times = {
        (transport, overhead): Simulation(program, NETWORK, overhead).run(halo(grid, (8, 8, 8)), placement, transport=transport).seconds
        for transport in TRANSPORTS
        for overhead in (0.0, 1e-5)
    }
    assert times["mpi", 1e-5] - times["mpi", 0] > 26 * 2e-5 * 0.9
    assert times["node_aware", 1e-5] - times["node_aware", 0] < 0.8 * (times["mpi", 1e-5] - times["mpi", 0])
    assert times["node_aware", 1e-5] < times["mpi", 1e-5]


@needs_simgrid
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_set_up_memory_of_a_rank_does_not_grow_with_the_number_of_ranks(program, transport):
    """Of 8 nodes each has 7 others, of more it has 26 neighbors: from there on a table with 8 bytes per rank would be seen."""
    taken = {}
    for side in (4, 6, 8):
        placement = place((side,) * 3, Machine(f"node:{side**3 // 8} core:8"), "full", periodic=True)
        case = halo((side,) * 3, (6, 6, 6))
        taken[side] = Simulation(program, NETWORK, iterations=1).run(case, placement, transport=transport).setup_bytes
    assert taken[4] > 10_000
    assert taken[8] < 1.01 * taken[6], taken
    assert taken[6] < 1.15 * taken[4], taken


@needs_simgrid
def test_a_network_takes_the_time_that_the_busiest_node_needs(program, placement):
    network = Parameters("network only", {}, {"node": 1e9})
    case = halo(GRID, (32, 32, 32), 2, 8)
    seconds = Simulation(program, network, iterations=4).run(case, placement).seconds
    expected = network.predict(case.traffic(placement))
    assert seconds == pytest.approx(expected, rel=0.25)


@needs_simgrid
def test_placement_beats_blocked_order_where_the_network_decides(tmp_path):
    done = CliRunner().invoke(root, ["model", "simulate", "--topology", "node:4 core:8", "--ranks-per-node", "8", "--grid", "4x4x2",
                                     "--extent", "24x24x24", "--halo", "2", "--fields", "4", "--numberings", "XYZ",
                                     "--variants", "mpi,node_aware", "--picture", str(tmp_path / "plot.svg"), "--json", str(tmp_path / "out.json")])
    assert done.exit_code == 0, done.output
    cells = json.loads((tmp_path / "out.json").read_text())["cells"]
    assert [cell["transport"] for cell in cells] == ["mpi", "node_aware"]
    assert cells[0]["speed_up"] > 1.1
    assert cells[1]["speed_up"] > 1  # there is less to be saved
    assert "<svg" in (tmp_path / "plot.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--halo", "1,2", "--fields", "1"], "do not form pairs", 2),
        (["--grid", "3x3x3", "--topology", "node:2 core:4", "--ranks-per-node", "4"], "27 points, but the machine has 8 ranks", 2),
        (["--variants", "shared"], "unknown simulated transport 'shared': choose from mpi, node_aware", 2),
    ],
)
@needs_simgrid
def test_studies_that_make_no_sense_are_refused(arguments, message, status):
    done = CliRunner().invoke(root, ["model", "simulate", *arguments])
    assert done.exit_code == status
    assert message in done.output.replace("\n", " ")


def test_a_machine_without_simgrid_is_told_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = CliRunner().invoke(root, ["model", "simulate"])
    assert done.exit_code == 3
    assert "apt install libsimgrid-dev" in done.output.replace("\n", " ")

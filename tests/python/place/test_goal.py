"""GOAL schedules: counted by a reader of their own, and beside exchanges that were made."""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from parhelion import launch
from parhelion.cli.main import root
from parhelion.place.goal import Schedule, write
from parhelion.place.traffic import Exchange
from parhelion.placement import PlacementError

STATEMENT = re.compile(r"l(\d+): (?:(calc) (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))$")
REQUIRES = re.compile(r"l(\d+) requires l(\d+)$")


def read(file):
    """Messages as sent and as received, by (from, to, tag, bytes); ranks, and whether each label is required only after it was told."""
    sent, received, labels = Counter(), Counter(), defaultdict(set)
    ranks, rank = None, None
    for line in file.read_text().splitlines():
        if found := re.fullmatch(r"num_ranks (\d+)", line):
            ranks = int(found[1])
        elif found := re.fullmatch(r"rank (\d+) \{", line):
            rank = int(found[1])
        elif found := STATEMENT.fullmatch(line):
            label, _, _, verb, size, other, tag = found.groups()
            assert label not in labels[rank]
            labels[rank].add(label)
            if verb:
                pair = (rank, int(other)) if verb == "send" else (int(other), rank)
                (sent if verb == "send" else received)[*pair, int(tag), int(size)] += 1
        elif found := REQUIRES.fullmatch(line):
            assert set(found.groups()) <= labels[rank] and int(found[2]) < int(found[1])
        else:
            assert line == "}", line
    return ranks, sent, received, labels


@pytest.mark.parametrize("periodic", [True, False, (True, False, True)])
@pytest.mark.parametrize("algorithm", ["standard", "by_dimension"])
@pytest.mark.parametrize("grid", [(3, 4, 5), (2, 1, 4), (1, 1, 1)])
def test_what_is_sent_is_received_and_totals_are_an_independent_count(tmp_path, grid, algorithm, periodic):
    schedule = Schedule(grid, Exchange((8, 6, 4), 2, 3, 4, algorithm), periodic, exchanges=2)
    write(schedule, tmp_path / "halo.goal")
    ranks, sent, received, labels = read(tmp_path / "halo.goal")
    assert sent == received and ranks == schedule.ranks == len(labels)
    assert all(sender != receiver for sender, receiver, *_ in sent)
    told = schedule.totals(4)
    assert sum(sent.values()) == 2 * told["messages"] and sum(size * count for (*_, size), count in sent.items()) == 2 * told["bytes"]
    leaving = Counter()
    for (sender, receiver, _, size), count in sent.items():
        if sender // 4 != receiver // 4:
            leaving[sender // 4] += size * count
    assert max(leaving.values(), default=0) == 2 * told["bytes_of_busiest_node"]


# With halo 1 the library pads the first field of a corner; with halo 4 both sides of the last dimension read the same cells.
REAL = [("2x2x2", "full", "yes", 2), ("2x4x1", "full", "yes", 2), ("2x2x2", "faces", "no", 2), ("8x1x1", "full", "no", 2), ("2x2x2", "full", "no", 1),
        ("2x2x2", "full", "yes", 4)]


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory):
    """The case lines of real exchanges, all of one launch."""
    record, build = tmp_path_factory.mktemp("exchanged") / "record", launch.default_build()
    words = ["halo", "--fields=2", "--extent=6,5,4", "--element=float64", "--variants=mpi", "--per-node", "--repetitions=1", f"--json={record}"]
    for grid, neighbors, periodic, halo in REAL:
        words += ["--case", f"--halo={halo}", f"--grid={grid.replace('x', ',')}", f"--neighbors={neighbors}", f"--periodic={periodic}"]
    assert launch.run(8, build.directory / "phl-bench", words, build=build, cwd=record.parent, timeout=120).ok
    cases = [line for line in map(json.loads, record.read_text().splitlines()) if line["type"] == "case"]
    return {("x".join(map(str, params["grid"])), params["neighbors"], "yes" if params["periodic"] else "no", params["halo"]): case for case in cases for params in [case["params"]]}


@pytest.mark.parametrize(("grid", "neighbors", "periodic", "halo"), REAL)
def test_messages_and_bytes_are_those_of_a_real_exchange(exchanged, grid, neighbors, periodic, halo):
    how = ["--halo", str(halo), "--fields", "2", "--neighbors", neighbors, "--periodic", periodic, "--grid", grid]
    case = exchanged[grid, neighbors, periodic, halo]
    levels = {name: told for name, told in case["traffic_by_level"].items() if name not in ("own_rank", "busiest_node")}
    result = CliRunner().invoke(root, ["model", "schedule", *how, "--extent", "6x5x4", "--json", "-"])
    told = json.loads(result.stdout)
    assert case["verified"] and told["messages"] == sum(level["messages"] for level in levels.values())
    assert told["bytes"] == sum(level["bytes"] for level in levels.values())
    assert (told["messages_of_busiest_rank"], told["bytes_of_busiest_rank"]) == (case["messages"], case["bytes"])


STAGED = """
import itertools, json
import parhelion as ph
from mpi4py import MPI
told = []
for grid, periodic in itertools.product([(2, 2), (1, 4), (4, 1)], itertools.product([False, True], repeat=2)):
    domain = ph.CartesianDomain([5 * grid[0], 3 * grid[1]], 1, periodic, process_grid=grid, algorithm="by_dimension")
    exchange = ph.Exchange(domain, domain.zeros("float64"), domain.zeros("float64"), transport="mpi")
    sent = MPI.COMM_WORLD.allgather((exchange.messages_sent(), exchange.bytes_sent()))
    told.append((grid, periodic, *map(sum, zip(*sent)), *map(max, zip(*sent))))
if MPI.COMM_WORLD.rank == 0:
    open("told.json", "w").write(json.dumps(told))
"""


def test_messages_dimension_by_dimension_are_those_of_a_real_exchange(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "python"))
    build = launch.default_build()
    assert launch.run(4, Path(sys.executable), ["-c", STAGED], build=build, cwd=tmp_path, timeout=120).ok
    for grid, periodic, *sent in json.loads((tmp_path / "told.json").read_text()):
        told = Schedule(tuple(grid), Exchange((5, 3), 1, 2, 8, "by_dimension"), tuple(periodic)).totals()
        assert sent == [told[name] for name in ("messages", "bytes", "messages_of_busiest_rank", "bytes_of_busiest_rank")], (grid, periodic)


def test_a_schedule_that_is_not_finished_replaces_none(tmp_path, monkeypatch):
    def lines(self):
        yield "num_ranks 2\n"
        raise MemoryError

    monkeypatch.setattr(Schedule, "lines", lines)
    file = tmp_path / "halo.goal"
    file.write_text("old")
    with pytest.raises(MemoryError):
        write(Schedule((2,), Exchange((8,), 1, 1, 4), (True,), exchanges=1), file)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("halo.goal", "old")]


def test_what_cannot_be_scheduled_is_refused():
    with pytest.raises(PlacementError, match="cannot combine messages"):
        Schedule((2, 2), Exchange((4, 4), algorithm="node_aware"))
    with pytest.raises(PlacementError, match="the extent has 3"):
        Schedule((2, 2), Exchange((4, 4, 4)))
    with pytest.raises(PlacementError, match="halo width 5 exceeds the extent 4 in dimension 1: GOAL schedules reach only the next rank"):
        Schedule((2, 2), Exchange((5, 4), halo=5))

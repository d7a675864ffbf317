"""`bench … --against`: two builds in turn, two runs that a comparison can pair, refusals that say what was tried."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner
from measured import ROOT, need_build, parhelion
from rich.console import Console
from synthetic import jobs

from parhelion.launch import default_build
from parhelion.launch.keeper import descendants
from parhelion.cli.main import root
from parhelion.analyze.document import failed
from parhelion.measure.measurement import Group, Measurement
from parhelion.measure.run import first_of_pair, measure, turns
from parhelion.measure.sides import SoftwareImage
from parhelion.record.read import read_record

HALO = ("bench", "halo", "--ranks", "2", "--halo", "1", "--fields", "1,2", "--repetitions", "8", "--out", "runs")
SIF = b"#!/usr/bin/env run-singularity\n\0" + b"SIF_MAGIC\0" + bytes(100)
TOLD = "open('order', 'a').write({!r})"
TWICE = "import functools; synthetic.launch_lines = functools.partial(synthetic.launch_lines, scale=2.0)"
ONCE_ONLY = "import os\nif job['launch'] > 0: sys.exit('phl-bench: planted')"


def name_build(folder, name, **program):
    synthetic.write_build(folder, **program)
    facts = json.loads((folder / "build.json").read_text())
    (folder / "build.json").write_text(json.dumps(facts | {"name": name}))
    (folder.parent / "default").write_text(name)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Runs the command over made-up builds `one` (the usual one) and `two`; their measuring programs begin with what is given."""
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: tmp_path / "builds")
    monkeypatch.chdir(tmp_path)
    for name in ("PARHELION_BUILD", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PARHELION_HOSTS"):
        monkeypatch.delenv(name, raising=False)

    def run(*words, one="pass", two="pass"):
        for name, before in (("two", two), ("one", one)):
            name_build(tmp_path / "builds" / name, name, before=before)
        return CliRunner().invoke(root, list(map(str, words)), prog_name="parhelion")

    return run


def both():
    return [read_record(Path("runs") / letter) for letter in "AB"]


def test_both_builds_take_turns_and_write_runs_that_belong_together(bench):
    done = bench(*HALO, "--launches", "4", "--against", "two", "--label", "note=x", one=TOLD.format("B"), two=TOLD.format("A"))
    assert done.exit_code == 0, done.output
    assert Path("order").read_text() == "ABBAABBA" and "A first in every other one" in done.output
    first, second = both()
    assert first.labels["interleaved"] == second.labels["interleaved"] and first.id != second.id
    assert [each.labels["image"] for each in (first, second)] == ["two", "one"] and first.labels["note"] == second.labels["note"] == "x"
    assert [[launch.pair for launch in each.launches] for each in (first, second)] == [[0, 1, 2, 3]] * 2
    for number, told in enumerate(zip(jobs("runs/A"), jobs("runs/B"), strict=True)):
        assert told[0]["cases"] == told[1]["cases"] and told[0]["pair"] == told[1]["pair"] == number
    assert "parhelion compare runs/A runs/B" in done.output and "A: two, 4 launches" in done.output


AT_ONCE = """
import os
[own] = [word.removeprefix("--turns=") for word in sys.argv if word.startswith("--turns=")]
mine, other = (os.path.dirname(own) + f"/{side}.0" for side in (("first", "second") if own.endswith("first") else ("second", "first")))
hear = os.fdopen(os.open(mine, os.O_RDONLY | os.O_NONBLOCK), "rb", 0)
os.set_blocking(hear.fileno(), True)
tell = os.open(other, os.O_RDWR)
os.write(tell, b"x")
print("heard", hear.read(1), file=open(f"heard-{os.path.basename(own)}", "a"))
"""


def test_live_both_run_at_once_and_can_hand_each_other_their_cores(bench):
    done = bench(*HALO, "--launches", "2", "--against", "two", "--live", one=AT_ONCE, two=AT_ONCE)
    assert done.exit_code == 0, done.output
    assert Path("heard-first").read_text() == Path("heard-second").read_text() == "heard b'x'\n" * 2
    assert "2 pairs of launches, both at once, alternating" in done.output
    assert [[launch.pair for launch in each.launches] for each in both()] == [[0, 1]] * 2


def test_live_one_that_ends_early_keeps_the_other_waiting_for_nothing(bench):
    done = bench(*HALO, "--launches", "2", "--against", "two", "--live", one=AT_ONCE.replace("b\"x\"", "b\"\""), two="sys.exit('phl-bench: planted')")
    assert done.exit_code == 3 and "planted" in done.output
    assert Path("heard-second").read_text() == "heard b''\n" and len(both()[1].launches) == 1 and not both()[0].launches


@pytest.mark.parametrize(("words", "hosts", "says"), [((), "", "add --against"), (("--against", "two"), "a,b", "of one host")])
def test_live_needs_somebody_to_take_turns_with_on_this_host(bench, monkeypatch, words, hosts, says):
    monkeypatch.setenv("PARHELION_HOSTS", hosts)
    done = bench(*HALO, "--live", *words)
    assert done.exit_code == 2 and says in " ".join(done.output.split()) and not Path("runs").exists()


def test_groups_of_other_numbers_of_ranks_see_both_orders_alike():
    for groups in (1, 2, 3):
        orders = {group: [first_of_pair(group + groups * turn, groups) for turn in range(4)] for group in range(groups)}
        assert all(sum(order) == 2 and order[:2] != order[1:3] for order in orders.values())


@pytest.mark.parametrize(("slow", "status", "verdict"), [({"one": TWICE}, 1, "slower"), ({"two": TWICE}, 0, "faster")])
def test_the_comparison_says_how_this_build_differs_from_the_other(bench, slow, status, verdict):
    done = bench(*HALO, "--launches", "6", "--against", "two", "--json", "out.json", **slow)
    assert done.exit_code == status, done.output
    found = json.loads(Path("out.json").read_text())
    assert found["schema"] == "parhelion.compare/3" and {case["verdict"] for case in found["cases"]} == {verdict}


def test_another_checkout_is_measured_with_what_it_has_built(bench, tmp_path):
    for name in ("one", "last"):
        name_build(tmp_path / "before/python/parhelion/_builds" / name, name, before=TOLD.format(name[0]))
    subprocess.run(["git", "init", "-q", tmp_path / "before"], check=True)
    done = bench(*HALO, "--launches", "1", "--against", "before")
    assert done.exit_code == 0, done.output
    assert Path("order").read_text() == "o" and both()[0].labels["image"] == "before/one"
    own = both()[1].run.environment["software"]["revision"]
    assert own and both()[0].run.environment["software"]["revision"] != own


@pytest.mark.parametrize(("against", "says"), [
    ("three", "no build has this name (built: one, two), and no folder or file exists there"),
    ("empty", "python/parhelion/_builds in it holds no build"), ("text", "the file is not an image"),
    ("v1.sif", "neither apptainer nor singularity is on PATH"),
])
def test_what_cannot_be_measured_against_is_refused_with_what_was_tried(bench, tmp_path, monkeypatch, against, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("no image")
    (tmp_path / "v1.sif").write_bytes(SIF)
    monkeypatch.setenv("PATH", os.defpath)
    done = bench(*HALO, "--against", against)
    assert done.exit_code == 2 and says in " ".join(done.output.split()) and not Path("runs").exists()


def test_a_folder_named_as_a_build_is_meant_when_it_is_written_as_a_path(bench, tmp_path):
    (tmp_path / "two").mkdir()
    assert bench(*HALO, "--launches", "1", "--against", "two").exit_code == 0
    assert "holds no build" in " ".join(bench(*HALO, "--against", "./two").output.split())


def test_a_matrix_and_a_launcher_of_ones_own_do_not_go_together_with_it(bench, monkeypatch):
    done = bench("bench", "--builds", "one,two", "--networks", "default", *HALO[1:], "--against", "two")
    assert done.exit_code == 2 and "a matrix compares its combinations" in done.output
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    done = bench(*HALO, "--against", "two")
    assert done.exit_code == 2 and "without mpiexec or srun" in done.output


def test_where_one_side_fails_the_other_is_not_measured_alone_and_what_is_there_is_compared(bench):
    done = bench(*HALO, "--launches", "5", "--against", "two", two=ONCE_ONLY)
    assert done.exit_code == 3, done.output
    first, second = both()
    assert len({case.launch for case in first.cases}) == 1 and {case.launch for case in second.cases} <= {0, 1}
    assert "planted" in done.output and "parhelion compare" in done.output


TWO_GROUPS = [Group(2, synthetic.halo_cases((halo,), (1,))) for halo in (1, 2)]
FAILS_IN_ONE = "if job['cases'][0]['halo'] == 2: sys.exit('phl-bench: planted')"


def launches_of(record, halo):
    return sorted({case.launch for case in record.cases if case.params["halo"] == halo})


def untold(record, what):
    """Launches without figures that no end line speaks of."""
    return {turn.launch for turn in turns(what, 1)} - {case.launch for case in record.cases} - {end.launch for end in record.ends if end.status != "ok"}


def test_a_group_that_fails_ends_no_other_group_of_as_many_ranks_and_each_launch_left_out_is_told(bench):
    bench("--version", one=FAILS_IN_ONE)
    what = Measurement("halo", TWO_GROUPS, launches=3, repetitions=5, out=Path("runs"))
    (record,) = measure(what, Console(quiet=True))
    assert launches_of(record, 1) == [0, 2, 4] and launches_of(record, 2) == [] and not untold(record, what)
    assert [str(end.status) for end in failed(record)] == ["exit status 1", *["not started, because the same cases failed in launch 2"] * 2]


def test_a_group_that_fails_on_one_side_ends_that_group_alone_on_both(bench):
    bench("--version", two=FAILS_IN_ONE)
    what = Measurement("halo", TWO_GROUPS, launches=3, repetitions=5, against="two", out=Path("runs"))
    first, second = measure(what, Console(quiet=True))
    assert launches_of(first, 1) == launches_of(second, 1) == [0, 2, 4] and not launches_of(first, 2)
    assert not untold(first, what) and not untold(second, what)
    assert "the same cases of A failed in launch 2" in str(second.ends[-1].status)


def test_no_second_run_no_first_one(bench):
    (Path("runs") / "B").mkdir(parents=True)
    (Path("runs") / "B" / "record.jsonl").write_text("mine")
    done = bench(*HALO, "--against", "two")
    assert done.exit_code == 2 and "already holds a run" in done.output
    assert not (Path("runs") / "A" / "record.jsonl").exists() and (Path("runs") / "B" / "record.jsonl").read_text() == "mine"


SLOWLY = "time.sleep(0.02)"
START = """
import parhelion.launch.builds as build, pathlib, sys
build.build_directory = lambda: pathlib.Path("builds")
from parhelion.cli.main import main
sys.argv = ["parhelion", *sys.argv[1:]]
main()
"""


def heard():
    """A shell without job control has its children ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_after_a_signal_both_runs_can_be_read_and_nothing_runs(tmp_path, number):
    for name in ("two", "one"):
        name_build(tmp_path / "builds" / name, name, each=SLOWLY)
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    env.pop("PARHELION_BUILD", None)
    started = subprocess.Popen([sys.executable, "-c", START, *HALO, "--launches", "9", "--against", "two"], cwd=tmp_path, env=env,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=heard)
    record, deadline = tmp_path / "runs" / "B" / "record.jsonl", time.monotonic() + 60
    while not record.exists() or record.read_bytes().count(b"\n") < 30:  # in the second pair
        assert time.monotonic() < deadline and started.poll() is None
        time.sleep(0.02)
    family = descendants(started.pid)
    started.send_signal(number)
    _, said = started.communicate(timeout=60)
    assert started.returncode == -number and "runs/A and runs/B" in said and "finished cases are kept" in said
    assert family and not [each for each in family if Path(f"/proc/{each.pid}").exists()]
    records = [read_record(tmp_path / "runs" / letter) for letter in "AB"]
    assert all(each.cases and not each.notes for each in records)
    assert any(end.status == f"ended by {number.name}" for each in records for end in each.ends)


STAND_IN = """#!/bin/sh
echo "$@" >> {log}
[ "$1" = exec ] || exit 9
shift
while [ "$1" = --mount ]; do shift 2; done
case "$1" in *.sif) shift ;; *) exit 8 ;; esac
[ -z "$PYTHONPATH$PARHELION_BUILD" ] || [ "$1" != sh ] || exit 7
{inside} exec "$@"
"""


def stand_in(folder, inside):
    """An `apptainer` that runs the command outside; `inside` sets variables."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "apptainer"
    program.write_text(STAND_IN.format(log=folder / "log", inside=inside))
    program.chmod(0o755)
    (folder / "v1.sif").write_bytes(SIF)
    return {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "python")}


@pytest.mark.parametrize("benchmark", [("halo", "--extent", "8", "--halo", "1", "--fields", "1"), ("ghosts", "--extent", "4", "--vdim", "2")])
def test_an_image_is_measured_by_its_own_mpi_inside_it(tmp_path, benchmark):
    need_build()
    env = stand_in(tmp_path, f"PYTHONPATH={ROOT / 'python'} PATH={Path(sys.executable).parent}:$PATH")
    auto = ("--variants", "auto")
    done = parhelion("bench", *benchmark, "--ranks", "2", "--launches", "2", "--repetitions", "6", *auto, "--against", "v1.sif", "--out", "runs",
                     cwd=tmp_path, timeout=200, **env)
    assert done.returncode in (0, 1) and "not enough samples" in done.stdout, done.stdout + done.stderr
    first, second = (read_record(tmp_path / "runs" / letter) for letter in "AB")
    assert first.labels["image"] == "v1.sif" and second.labels["image"] == default_build().name
    assert len(first.cases) == len(second.cases) == 2 and all(case.verified for case in first.cases + second.cases)
    raw = [json.loads(line) for line in (tmp_path / "runs" / "A" / "record.jsonl").read_text().splitlines()]
    assert [line["pair"] for line in raw if line["type"] == "launch"] == [0, 1]
    asked = (tmp_path / "log").read_text()
    run = tmp_path / "runs" / "A"
    assert f"--mount type=bind,src={run},dst={run} {tmp_path / 'v1.sif'}" in asked and "-m parhelion run -n 2" in asked


def test_folders_of_any_name_are_seen_in_an_image():
    folder = Path('/a,b:c/"d"')
    words = SoftwareImage(Path("v1.sif"), "apptainer", "python3", "mpich", "phl-bench").words([folder])
    assert words[:3] == ["apptainer", "exec", "--mount"]
    assert next(csv.reader([words[3]])) == ["type=bind", f"src={folder}", f"dst={folder}"]


def test_an_image_without_parhelion_is_refused_with_what_was_looked_for(tmp_path):
    need_build()
    env = stand_in(tmp_path, f"PATH={tmp_path / 'usr'}")
    (tmp_path / "usr").mkdir()
    for name in ("sh", "sed", "env"):
        (tmp_path / "usr" / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    done = parhelion("bench", "halo", "--against", "v1.sif", cwd=tmp_path, **env)
    assert done.returncode == 2 and "nor python3 has the package parhelion there" in " ".join(done.stderr.split()), done.stderr

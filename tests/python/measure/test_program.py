"""The measuring program alone, under the launcher of its MPI."""

import subprocess
import sys

import pytest
from click.testing import CliRunner
from measured import need_build

from parhelion.cli.main import root
from parhelion.launch import default_build
from parhelion.record.read import read_record

CASE = ("halo", "--extent", "8", "--halo", "1", "--fields", "1", "--repetitions", "3", "--variants", "auto,hand_packed")


@pytest.fixture
def program(tmp_path):
    need_build()
    build = default_build()

    def run(*words):
        start = build.launch(2, build.program, words, bind=False)
        return subprocess.run(start.argv, env=start.env, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return run


def test_without_a_file_it_prints_columns(program):
    done = program(*CASE)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line and line[0] != "#"]
    assert [(row[0], row[-1]) for row in rows] == [("auto", "pass"), ("hand_packed", "pass")] and all(float(row[1]) > 0 for row in rows)


def test_with_a_file_it_writes_a_record_that_can_be_read(program, tmp_path):
    for launch in "01":
        assert program(*CASE, "--launch", launch, "--json", "out").returncode == 0
    record = read_record(tmp_path / "out")
    assert [case.variant for case in record.cases] == ["auto", "hand_packed"] * 2 and [each.launch for each in record.launches] == [0, 1]
    assert record.run.benchmark == "halo" and record.run.argv[:2] == ["phl-bench", "halo"]


@pytest.mark.parametrize(("words", "why"), [
    (("halo", "--feet", "2"), "--feet: unknown option"),
    (("halo", "--halo", "65"), "exceeds the extent 64"),
    (("halo", "--ranks", "3"), "run mpiexec -n 3"),
    (("halo", "--json", "/none/out"), "cannot write the record /none/out"),
])
def test_what_cannot_be_measured_is_refused_once_and_by_all_ranks(program, words, why):
    done = program(*words)
    assert done.returncode == 2 and (done.stdout + done.stderr).count(why) == 1, done.stderr


def by_launcher(tmp_path, ranks, *words):
    """`parhelion bench` where a launcher starts it as its ranks."""
    start = default_build().launch(ranks, sys.executable, ("-m", "parhelion", "bench", *words), bind=False)
    return subprocess.run(start.argv, env=start.env, cwd=tmp_path, capture_output=True, text=True, timeout=60)


def test_the_ranks_of_another_launcher_become_the_program(tmp_path):
    need_build()
    done = by_launcher(tmp_path, 2, *CASE)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines() if line and line[0] != "#"] == ["auto", "hand_packed"]
    done = by_launcher(tmp_path, 2, *CASE, "--out", "run")
    assert done.returncode == 0 and done.stderr.count("record: run/record.jsonl") == 1, done.stderr
    assert [case.verified for case in read_record(tmp_path / "run").cases] == [True, True]
    again = by_launcher(tmp_path, 2, *CASE, "--out", "run")
    assert again.returncode == 2 and again.stderr.count("already holds launch 0: name another file") == 1, again.stderr
    assert len(read_record(tmp_path / "run").cases) == 2


def test_the_ranks_of_another_launcher_are_all_measured(tmp_path):
    need_build()
    done = by_launcher(tmp_path, 3, *CASE)
    assert done.returncode == 0, done.stderr
    done = by_launcher(tmp_path, 3, *CASE, "--live")
    assert done.returncode == 2 and done.stderr.count("needs two builds to alternate") == 1, done.stderr


@pytest.mark.parametrize(("words", "why"), [
    ((*CASE, "--ranks", "2"), "started with 3 ranks, but the cases need 2"),
    ((*CASE, "--against", "other"), "run it without mpiexec or srun"),
    ((*CASE, "--label", "a=b", "--json", "x.json"), "--label, --json: under mpiexec or srun, ranks measure once"),
    ((*CASE, "--live"), "needs two builds to alternate"),
])
def test_the_ranks_of_another_launcher_are_refused_once(words, why):
    need_build()
    for rank in range(3):
        done = CliRunner(env={"PMI_RANK": str(rank), "PMI_SIZE": "3"}).invoke(root, ["bench", *words], prog_name="parhelion")
        assert done.exit_code == 2 and done.stderr.count(why) == (rank == 0), done.stderr

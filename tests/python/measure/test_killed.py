"""Killing a measurement at any moment leaves a store that opens and holds every finished case."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner

from parhelion.launch.keeper import descendants, kill_remaining
from parhelion.cli.main import root
from parhelion.record.read import read_record

PACKAGE = Path(__file__).resolve().parents[3] / "python"
START = """
import parhelion.launch.builds as build, pathlib, sys
build.build_directory = lambda: pathlib.Path("builds")
from parhelion.cli.main import main
sys.argv = ["parhelion", "bench", "halo", "--launches", "3", "--out", sys.argv[1]]
main()
"""
# Each line is written in two halves, so that a kill may come between them.
HALVES = "text = json.dumps(line); record.write(text[:40]); record.flush(); time.sleep(0.002); record.write(text[40:] + '\\n'); record.flush(); continue"


@pytest.mark.timeout(120)
def test_killed_with_all_ranks_at_random_moments_the_store_holds_every_finished_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    synthetic.write_build(tmp_path / "builds" / "synthetic", each=HALVES)
    rng = random.Random(7)
    finished = {}
    for number in range(6):
        run = Path("runs") / f"run-{number}"
        started = subprocess.Popen([sys.executable, "-c", START, str(run)], env=os.environ | {"PYTHONPATH": str(PACKAGE)},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_ranks(run)
        time.sleep(rng.uniform(0, 0.3))
        family = descendants(started.pid)
        started.send_signal(signal.SIGKILL)
        kill_remaining(family)
        started.wait()
        finished[run.name] = sum(b'"type": "case"' in line[:20] for line in (run / "record.jsonl").read_bytes().split(b"\n")[:-1])
    assert {run: len(read_record(Path("runs") / run).cases) for run in finished} == finished
    assert sum(finished.values()) > 0
    assert f"{sum(finished.values())} rows" in parhelion("runs", "export", "--table", "cases", "--file", "cases.csv").stdout
    assert all(run in parhelion("runs", "list").stdout for run in finished)


def wait_for_ranks(run):
    """Until the first start of the ranks has written something."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if (run / "record.jsonl").is_file() and (run / "record.jsonl").read_bytes().count(b"\n") >= 2:
            return
        time.sleep(0.01)
    raise AssertionError("no launch was written")


def parhelion(*words):
    """Run the command in this process, as into a pipe."""
    result = CliRunner(env={"COLUMNS": None}).invoke(root, list(words), prog_name="parhelion")
    assert result.exit_code == 0, result.output
    return result


def test_a_first_line_that_was_never_finished_is_listed_with_its_fault(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("empty", b""), ("half", b'{"type":"run","schema":"parh')):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "record.jsonl").write_bytes(content)
    (tmp_path / "runs" / "bare").mkdir()
    listing = parhelion("runs", "list").stdout
    assert listing.count("it holds no finished") == 2 and "bare" not in listing

"""`parhelion bench ghosts` from its options to its document, on small blocks."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from parhelion import launch
from parhelion.cli.main import root
from parhelion.measure.programs import GHOSTS, ONLY_BY_NAME, names
from parhelion.analyze.results import Entry
from parhelion.record.model import Case as Line
from parhelion.analyze.document import bandwidths

pytestmark = pytest.mark.skipif(not launch.usable_builds(), reason="nothing is built: run `make build`")
SMALL = ("--quick", "--extent", "4", "--repetitions", "2")


def bench(folder, *words, **variables):
    command = [sys.executable, "-m", "parhelion", "bench", "ghosts", *SMALL, "--out", str(folder / "run"), "--json", str(folder / "out.json")]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=120, env=os.environ | variables)
    document = json.loads((folder / "out.json").read_text() or "null") if (folder / "out.json").exists() else None
    return done, document


def test_every_variant_is_verified_and_timed_on_every_case(tmp_path):
    done, document = bench(tmp_path, "--ranks", "2", "--vdim", "2,5")
    assert done.returncode == 0, done.stdout + done.stderr
    every = set(names(GHOSTS)) - ONLY_BY_NAME
    assert {"auto", "published_hindexed", "packed_persistent", "mpi4py_isend", "floor_in_process"} <= every
    by_case = {}
    for entry in document["cases"]:
        assert entry["verified"] is True and entry["median_s"] > 0 and len(entry["samples"]) == 2
        by_case.setdefault(entry["params"]["vdim"], set()).add(entry["variant"])
    assert by_case == {2: every, 5: every}
    assert document["not_run"] == []
    assert "OMP_NUM_THREADS" in done.stderr and "set to 1" in done.stderr
    said = " ".join(done.stdout.split())
    assert all(f"rows_{what} {count}" in said for what, count in (("claimed", 96), ("unique", 80), ("moved", 32))), said
    assert "imports, slowest rank" in done.stdout


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A run that counts messages; the user has set a number of threads."""
    folder = tmp_path_factory.mktemp("counted")
    words = ("--ranks", "3", "--vdim", "3", "--variants", "auto,published_hindexed,floor_in_process", "--per-node")
    return folder, *bench(folder, *words, OMP_NUM_THREADS="3")


def test_variants_of_a_case_agree_on_bytes(counted):
    *_, document = counted
    by_level = {entry["variant"]: entry.get("traffic_by_level") for entry in document["cases"]}
    assert by_level["floor_in_process"] is None and by_level["auto"]["other_node"] == {"messages": 0, "bytes": 0}
    assert sum(level["bytes"] for level in by_level["auto"].values()) == 3 * 2 * 4 * 4 * 3 * 8
    sent = {entry["variant"]: entry["bytes"] for entry in document["cases"]}
    assert set(sent.values()) == {2 * 4 * 4 * 3 * 8}, sent


def test_all_from_one_pulls_from_rank_0_alone(tmp_path):
    done, document = bench(tmp_path, "--ranks", "3", "--vdim", "1", "--pattern", "all-from-one", "--variants", "auto,mpi4py_isend")
    assert done.returncode == 0, done.stdout + done.stderr
    params = document["cases"][0]["params"]
    assert params["pattern"] == "all-from-one" and params["rows_moved_total"] == 2 * params["rows_moved"] == 2 * 56


def test_a_wrong_value_ends_in_status_1(tmp_path):
    done, document = bench(tmp_path, "--ranks", "2", "--vdim", "2", "--variants", "auto,planted_fault")
    assert done.returncode == 1
    verdicts = {entry["variant"]: entry["verified"] for entry in document["cases"]}
    assert verdicts == {"auto": True, "planted_fault": False} and "FAILED" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--ranks", "3", "--grid", "2x2"), "make them agree"), (("--variants", "pigeon"), "pigeon"), (("--vdim", "0"), "from 1"),
     (("--extent", "1024", "--vdim", "100000"), "GiB"), (("--pattern", "none"), "none")],
)
def test_what_cannot_be_measured_is_refused_before_anything_starts(tmp_path, words, says):
    done = CliRunner().invoke(root, ["bench", "ghosts", *SMALL, "--out", str(tmp_path / "run"), *words], prog_name="parhelion")
    assert done.exit_code == 2 and says in done.stderr and not (tmp_path / "run").exists()


def test_threads_that_the_user_has_set_are_kept(counted):
    folder, done, _ = counted
    record = (folder / "run" / "record.jsonl").read_text().splitlines()
    launched = next(line for line in map(json.loads, record) if line["type"] == "launch")
    assert "OMP_NUM_THREADS=3 kept" in done.stderr and launched["cvars"]["OMP_NUM_THREADS"] == "3"
    assert launched["cvars"]["MKL_NUM_THREADS"] == "1" and launched["imports"]["numpy_s"]["max"] > 0


def test_bandwidths_are_the_moved_bytes_of_each_rank_over_its_own_time():
    params = {"ranks": 2, "vdim": 10, "element": "float64", "pattern": "faces", "rows_moved": 100, "rows_claimed": 300, "rows_moved_total": 200}
    by_rank = np.array([[1e-6, 1e-6], [2e-6, 2e-6]])
    line = Line(0, "ghosts", "auto", params, samples=[2e-6, 2e-6], samples_by_rank=by_rank.tolist(), verified=True)
    mean, spread, total, claimed = bandwidths(params, Entry("ghosts", params, "auto", "own", [line]))
    assert mean.startswith("6.0000e+09") and mean.endswith("[0.002ms]")
    assert spread == "4.0000e+09 … 8.0000e+09" and total == "8.0000e+09" and claimed == "1.8000e+10"

"""What a record says is what was measured: parameters, repetitions, names of data sets, cores, starts side by side."""

import json

import pytest
import synthetic
from measured import built, document, need_build, parhelion, sample_counts

from parhelion.measure.measurement import gather, told_apart_by
from parhelion.analyze.results import remarks
from parhelion.analyze.results import CaseResult, Entry, results
from parhelion.record.read import read_record
from parhelion.record.model import Case


def test_rows_from_python_under_several_networks_are_cases_of_their_own(tmp_path):
    need_build()
    mpi = (built("mpich", "openmpi") or pytest.skip("skipped: neither mpich nor openmpi is built"))[0]
    done = parhelion("bench", "--builds", mpi, "--networks", "default,tcp", "ghosts", "--ranks", "2", "--extent", "4", "--vdim", "2",
                     "--variants", "mpi4py_isend", "--launches", "1", "--repetitions", "3", "--json", "out.json", cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = document(tmp_path)["cases"]
    assert {(case["params"]["mpi"], case["params"]["network"]) for case in cases} == {(mpi, "default"), (mpi, "tcp")}
    assert sample_counts(tmp_path) == [3, 3]


def test_a_transport_that_finds_no_network_is_left_out_and_no_failure(tmp_path):
    """UCX within shared memory alone, which cannot tell of a lost rank: as on a machine whose only network is its own."""
    need_build()
    mpi = (built("mpich", "openmpi") or pytest.skip("skipped: neither mpich nor openmpi is built"))[0]
    done = parhelion("bench", "halo", "--build", mpi, "--ranks", "2", "--extent", "8", "--halo", "1", "--fields", "1", "--variants", "auto,ucx",
                     "--launches", "1", "--repetitions", "3", "--json", "out.json", cwd=tmp_path, timeout=120, UCX_TLS="posix,self")
    assert done.returncode == 0, done.stdout + done.stderr
    told = document(tmp_path)
    assert told["failures"] == [] and "transport ucx cannot be used here" in str(told["not_run"])


@pytest.mark.parametrize(("precision", "most", "expected"), [
    ((), 40, {6}), (("--precision", "0.0001%"), 14, {14}), (("--precision", "99%"), 1000, set(range(20, 1001, 5))),
])
def test_rows_from_python_go_on_until_they_are_precise(tmp_path, precision, most, expected):
    """Whether they are is looked at after every fifth sample, from the twentieth on, which is the first to tell."""
    need_build()
    done = parhelion("bench", "ghosts", "--ranks", "2", "--extent", "4", "--vdim", "2", "--variants", "auto", "--launches", "1", "--repetitions", "6",
                     *precision, "--most-repetitions", most, "--json", "out.json", cwd=tmp_path, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(sample_counts(tmp_path)) <= expected


def test_data_sets_of_one_name_are_told_apart_by_their_folders(tmp_path):
    sets = [synthetic.write_dataset(tmp_path / place, 2) for place in ("a/mesh-2", "b/mesh-2", "x/b/mesh-2", "a/other-2")]
    apart = told_apart_by([*sets, sets[0]])
    assert list(apart) == sets and apart[sets[3]] == {}
    told = [apart[each]["from"] for each in sets[:3]]
    assert told[0] == "a" and len(set(told)) == 3 and told[2] == "x:b" and "/" not in "".join(told)
    cases = gather((sets[0], sets[1], sets[0]), None, ("int32",), (1,))[0].cases
    assert [case.get("from") for case in cases] == ["a", "b"]


def test_two_data_sets_of_one_name_are_measured_shown_and_compared_apart(tmp_path):
    need_build()
    for place in ("metis", "scotch"):
        synthetic.write_dataset(tmp_path / place / "mesh-2", 2)
    for run in ("one", "two"):
        done = parhelion("bench", "gather", "metis/mesh-2", "scotch/mesh-2", "--variants", "auto", "--launches", "2", "--repetitions", "6", "--out", run,
                         cwd=tmp_path, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "metis" in done.stdout and "scotch" in done.stdout
    parhelion("compare", "one", "two", "--json", "out.json", cwd=tmp_path)
    assert {case["params"]["from"] for case in document(tmp_path)["cases"]} == {"metis", "scotch"}


def run_with(folder, ranks, environment, **launch):
    """A record whose one start tells of hosts and cores."""
    run = synthetic.write_record(folder, launches=1, ranks=ranks, environment=environment)
    lines = [json.loads(line) for line in (run / "record.jsonl").read_text().splitlines()]
    (run / "record.jsonl").write_text("".join(json.dumps(line | (launch if line["type"] == "launch" else {})) + "\n" for line in lines))
    record = read_record(run)
    return " ".join(remarks(record, results(record.cases)))


@pytest.mark.parametrize(("ranks", "launch", "said"), [
    (2, {"hosts": ["a"] * 2, "cores": {"a": 2}, "binding": [[0], [1]]}, None),  # each bound by srun, the first of them measured here
    (4, {"hosts": ["a"] * 4, "cores": {"a": 2}}, "4 ranks shared 2 cores"),
    (2, {"hosts": ["a"] * 2, "cores": {"a": 1}, "binding": [[0], [0]]}, "2 ranks shared 1 core:"),
    (4, {"hosts": ["a", "a", "a", "b"], "cores": {"a": 2, "b": 8}}, "3 ranks shared 2 cores"),
    (4, {"hosts": ["a", "a", "b", "b"], "cores": {"a": 2, "b": 2}}, None),
    (2, {}, "2 ranks shared 1 core:"),
])
def test_ranks_share_cores_where_all_of_them_have_fewer_between_them(tmp_path, ranks, launch, said):
    words = run_with(tmp_path / "run", ranks, {"cpu": {"usable_cores": 1}, "load": "0.1 0.1"}, **launch)
    assert (said in words) if said else "shared" not in words


@pytest.mark.parametrize("benchmark", [("halo", "--extent", "8", "--halo", "1", "--fields", "1"), ("ghosts", "--extent", "4", "--vdim", "2")])
def test_the_ranks_tell_how_many_cores_they_have_between_them(tmp_path, benchmark):
    need_build()
    done = parhelion("bench", *benchmark, "--ranks", "2", "--variants", "auto", "--quick", "--repetitions", "2", "--out", "run", cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    launch = read_record(tmp_path / "run").launches[0]
    assert set(launch.cores) == set(launch.hosts) and 1 <= min(launch.cores.values()) <= len({cpu for cpus in launch.binding for cpu in cpus})


def entry(variant, role, **launches):
    lines = [Case(int(number[1:]), "x", variant, {}, role, verified=True, samples=samples) for number, samples in launches.items()]
    return Entry("x", {}, variant, role, lines)


def test_ratios_pair_the_samples_of_the_same_start():
    """A start that gave no samples of one variant shifts none of those after it."""
    slow, fast = [2.0] * 10, [1.0] * 10
    own = entry("auto", "own", s0=fast, s1=slow, s2=fast, s3=[])
    base = entry("hand_packed", "baseline", s0=fast, s1=slow, s3=fast, s2=fast)
    low, high = CaseResult("x", {}, {"auto": own, "hand_packed": base}).speed_interval("auto")
    assert (low, high) == (1.0, 1.0)
    base.lines[0].samples = []
    assert CaseResult("x", {}, {"auto": own, "hand_packed": base}).speed_interval("auto") == (1.0, 1.0)

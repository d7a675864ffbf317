"""One benchmark under several MPIs and networks: every combination has a row."""

import json

import pytest
import synthetic
from measured import built, document, need_build, parhelion

from parhelion.launch.kinds import KINDS
from parhelion.launch.kinds import NETWORKS, network_setting
from parhelion.record.read import read_record


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Runs the command over made-up builds; `before` is what their measuring program does first."""
    from click.testing import CliRunner

    from parhelion.cli.main import root

    builds = tmp_path / "builds"
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: builds)
    monkeypatch.chdir(tmp_path)
    for name in ("PARHELION_BUILD", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PARHELION_HOSTS"):
        monkeypatch.delenv(name, raising=False)

    def run(*words, **before):
        for kind in ("mpich", "openmpi"):
            synthetic.write_build(builds / kind, kind=kind, before=before.get(kind, ""))
            facts = json.loads((builds / kind / "build.json").read_text())
            (builds / kind / "build.json").write_text(json.dumps(facts | {"name": kind}))
        return CliRunner().invoke(root, ["bench", *map(str, words)], prog_name="parhelion")

    return run


HALO = ("halo", "--quick", "--ranks", "2", "--halo", "1", "--fields", "1,2", "--json", "out.json", "--out", "run")


def combinations(folder):
    """Combination to reason."""
    return {(each["mpi"], each["network"]): each["reason"] for each in document(folder)["combinations"]}


def test_every_combination_has_a_row_and_what_cannot_run_a_reason(fake, tmp_path):
    done = fake("--builds", "mpich,openmpi,nowhere", "--networks", "ucx,shm", *HALO)
    assert done.exit_code == 0, done.output
    found = combinations(tmp_path)
    assert set(found) == {(mpi, network) for mpi in ("mpich", "openmpi", "nowhere") for network in ("ucx", "shm")}
    assert {place for place, reason in found.items() if reason is None} == {("mpich", "ucx"), ("openmpi", "ucx"), ("openmpi", "shm")}
    assert "make build MPI=nowhere" in found["nowhere", "ucx"] and "always initializes a network" in found["mpich", "shm"]
    rows = {(each["params"]["mpi"], each["params"]["network"], each["params"]["fields"]) for each in document(tmp_path)["not_run"]}
    assert ("nowhere", "shm", 2) in rows
    assert "cannot run" in done.output and "3 of 6 combinations ran" in done.output


def test_the_variables_of_a_network_reach_the_ranks_and_one_report_is_written(fake, tmp_path):
    seen = "open('seen', 'a').write(repr([os.environ.get(n) for n in ('MPIR_CVAR_CH4_NETMOD', 'OMPI_MCA_pml')]))"
    done = fake("--builds", "mpich,openmpi", "--networks", "ucx", *HALO, mpich=seen, openmpi=seen)
    assert done.exit_code == 0, done.output
    assert {"['ucx', None]", "[None, 'ucx']"} == set((tmp_path / "seen").read_text().replace("][", "]\n[").splitlines())
    page = (tmp_path / "run" / "report.html").read_text()
    assert "MPIs and networks" in page and "openmpi" in page and (tmp_path / "run" / "report.md").exists()


def test_ranks_that_do_not_start_are_a_row_with_what_they_said(fake, tmp_path):
    done = fake("--builds", "mpich,openmpi", "--networks", "default", *HALO, openmpi="sys.exit('phl-bench: no such fabric')")
    assert done.exit_code == 0, done.output
    assert "no such fabric" in combinations(tmp_path)["openmpi", "default"]
    assert combinations(tmp_path)["mpich", "default"] is None


def test_ranks_that_break_down_later_fail_the_command_and_keep_their_cases(fake, tmp_path):
    broken = "import itertools; c = itertools.count(); synthetic.launch_lines = (lambda f: lambda job: " \
        "(l if next(c) < 5 else os._exit(9) for l in f(job)))(synthetic.launch_lines)"
    done = fake("--builds", "mpich,openmpi", "--networks", "default", *HALO, openmpi=broken)
    assert done.exit_code == 3, done.output
    assert combinations(tmp_path) == {("mpich", "default"): None, ("openmpi", "default"): None}


def test_combinations_take_turns_in_an_order_drawn_anew(fake, tmp_path):
    orders = []
    for seed in ("1", "2"):
        fake("--builds", "mpich,openmpi", "--networks", "default,ucx", "halo", "--ranks", "2", "--halo", "1", "--fields", "1", "--launches", "2",
             "--repetitions", "3", "--seed", seed, "--out", f"run{seed}")
        record = read_record(tmp_path / f"run{seed}")
        params = {case.launch: (case.params["mpi"], case.params["network"]) for case in record.cases}
        orders.append([params[launch] for launch in sorted(params)])
        assert sorted(orders[-1][:4]) == sorted(orders[-1][4:]) and len(set(orders[-1][:4])) == 4
    assert orders[0] != orders[1]


@pytest.mark.parametrize(("words", "message"), [
    (["--networks", "telex", "halo"], "choose from default"), (["--builds", "nowhere", "halo"], "no combination can run"),
    (["--builds", "mpich", "halo", "--build", "mpich"], "bench --builds mpich"),
])
def test_a_matrix_that_cannot_be_is_refused(fake, words, message):
    done = fake(*words)
    assert done.exit_code == 2 and message in done.output


def test_every_network_is_known_for_every_kind_of_mpi():
    for network in NETWORKS:
        for kind in KINDS:
            variables, reason = network_setting(network, kind)
            assert reason is None or not variables
    assert network_setting("ucx", "another")[1]


@pytest.mark.every_build
def test_real_builds_measure_over_ucx_and_tcp(tmp_path):
    need_build()
    mpis = built("mpich", "openmpi", "impi")
    if not mpis:
        pytest.skip("skipped: none of mpich, openmpi, impi is built")
    done = parhelion("bench", "--builds", ",".join(mpis), "--networks", "ucx,tcp", "alltoall", "--quick", "--ranks", "2",
                     "--size", "1,64K", "--repetitions", "3", "--variants", "mpi_alltoall,pairwise", "--json", "out.json",
                     cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = combinations(tmp_path)
    assert len(found) == 2 * len(mpis) and all(found[mpi, "tcp"] is None for mpi in mpis)
    assert all(case["verified"] for case in document(tmp_path)["cases"])
    assert {(row["image"], row["network"]) for row in document(tmp_path)["published"]} == \
        {place for place, reason in found.items() if not reason}

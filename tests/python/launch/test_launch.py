"""Starting ranks: options for each MPI, environment, limits, and what the ranks really see."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from parhelion import launch
from parhelion.launch import builds, jobs
from parhelion.launch.keeper import descendants

BUILT = launch.usable_builds()
each_build = pytest.mark.parametrize("build", BUILT.values(), ids=BUILT.keys())


def write_build(directory: Path, name: str, kind: str = "mpich", **changes) -> Path:
    directory = directory / name
    directory.mkdir()
    text = {
        "name": name,
        "kind": kind,
        "mpi_home": "/opt/some-mpi",
        "mpiexec": "/opt/some-mpi/bin/mpiexec",
        "library_dir": "/opt/some-mpi/lib",
        "library_version": "MPICH Version: 5.0.2",
        "soname": "libmpi.so.12",
    }
    (directory / "build.json").write_text(json.dumps(text | changes))
    return directory / "build.json"


def build_of(tmp_path: Path, kind: str) -> launch.Build:
    return launch.load_build(write_build(tmp_path, f"a-{kind}", kind))


def test_builds_lists_every_description_by_name(tmp_path):
    write_build(tmp_path, "mpich")
    write_build(tmp_path, "site", kind="openmpi")
    assert {name: build.kind for name, build in launch.usable_builds(tmp_path).items()} == {
        "mpich": "mpich",
        "site": "openmpi",
    }


def test_relative_paths_of_a_build_start_at_its_directory(tmp_path):
    file = write_build(tmp_path, "mpich", mpi_home="../..", mpiexec="../../bin/mpiexec", library_dir="../../lib")
    build = launch.load_build(file)
    assert build.mpiexec == tmp_path.parent / "bin" / "mpiexec"
    assert build.mpi_library == tmp_path.parent / "lib" / "libmpi.so.12"


def test_the_build_built_last_is_the_default(tmp_path, monkeypatch):
    monkeypatch.delenv("PARHELION_BUILD", raising=False)
    for name in ("mpich", "other"):
        write_build(tmp_path, name)
    (tmp_path / "default").write_text("other\n")
    assert launch.default_build(tmp_path).name == "other"


def test_the_environment_chooses_the_default_before_the_build_does(tmp_path, monkeypatch):
    monkeypatch.setenv("PARHELION_BUILD", "mpich")
    for name in ("mpich", "other"):
        write_build(tmp_path, name)
    (tmp_path / "default").write_text("other\n")
    assert launch.default_build(tmp_path).name == "mpich"


def test_a_build_that_is_not_built_is_refused_with_the_command_that_builds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PARHELION_BUILD", "openmpi")
    write_build(tmp_path, "mpich")
    with pytest.raises(launch.BuildError, match=r"built: mpich.*make build MPI=openmpi"):
        launch.default_build(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1}'])
def test_a_broken_description_is_refused_by_path(tmp_path, text):
    file = tmp_path / "build.json"
    file.write_text(text)
    with pytest.raises(launch.BuildError, match="build.json"):
        launch.load_build(file)


def test_an_unknown_kind_of_mpi_is_refused(tmp_path):
    with pytest.raises(launch.BuildError, match="'lam'"):
        launch.load_build(write_build(tmp_path, "lam", kind="lam"))


def test_fewer_than_one_rank_is_refused(tmp_path):
    with pytest.raises(ValueError, match="ranks is 0"):
        build_of(tmp_path, "mpich").launch(0, "a.out")


def test_more_ranks_than_a_launcher_can_start_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at most 131072"):
        build_of(tmp_path, "mpich").launch(2**31 - 1, "a.out")


@pytest.mark.parametrize("kind", ["mpich", "openmpi", "impi"])
def test_program_and_arguments_end_the_command_line(tmp_path, kind):
    argv = build_of(tmp_path, kind).launch(3, "a.out", ["-x", "y z"]).argv
    assert argv[0] == "/opt/some-mpi/bin/mpiexec"
    assert argv[-5:] == ["-n", "3", "a.out", "-x", "y z"]


def test_mpich_binds_ranks_that_have_a_core_each(tmp_path):
    launched = build_of(tmp_path, "mpich").launch(2, "a.out", cores=2, env={})
    assert launched.argv[1:3] == ["-bind-to", "core"]
    assert "MPIR_CVAR_DEVICE_COLLECTIVES" not in launched.env


def test_mpich_leaves_ranks_that_share_cores_unbound_and_says_so(tmp_path):
    launched = build_of(tmp_path, "mpich").launch(3, "a.out", cores=2, env={})
    assert "-bind-to" not in launched.argv
    assert launched.env["MPIR_CVAR_DEVICE_COLLECTIVES"] == "none"
    assert "3 ranks share 2 cores and are not bound" in launched.notes


def test_openmpi_yields_and_oversubscribes_where_ranks_share_cores(tmp_path):
    launched = build_of(tmp_path, "openmpi").launch(3, "a.out", cores=2, env={})
    assert " ".join(launched.argv[1:5]) == "--map-by :OVERSUBSCRIBE --bind-to none"
    assert launched.env["OMPI_MCA_mpi_yield_when_idle"] == "1"


def test_openmpi_passes_each_added_variable_to_the_ranks(tmp_path):
    launched = build_of(tmp_path, "openmpi").launch(2, "a.out", cores=2, env={"HOME": "/"})
    exported = {after for word, after in zip(launched.argv, launched.argv[1:]) if word == "-x"}
    assert exported == set(launched.env) - {"HOME"}


def test_intel_mpi_is_told_its_prefix_even_when_another_is_set(tmp_path):
    launched = build_of(tmp_path, "impi").launch(2, "a.out", env={"I_MPI_ROOT": "/opt/other"})
    assert launched.env["I_MPI_ROOT"] == "/opt/some-mpi"


def test_the_builds_own_library_comes_first_in_an_inherited_search_path(tmp_path):
    launched = build_of(tmp_path, "mpich").launch(2, "a.out", env={"LD_LIBRARY_PATH": "/opt/other/lib"})
    assert launched.env["LD_LIBRARY_PATH"] == "/opt/some-mpi/lib:/opt/other/lib"


def test_ranks_get_one_thread_each_and_the_user_is_told(tmp_path):
    launched = build_of(tmp_path, "mpich").launch(2, "a.out", env={})
    assert launched.env["OMP_NUM_THREADS"] == "1"
    assert any("OMP_NUM_THREADS" in note and "set to 1" in note for note in launched.notes)


def test_thread_counts_from_the_user_are_kept_and_told(tmp_path):
    launched = build_of(tmp_path, "mpich").launch(2, "a.out", env={"OMP_NUM_THREADS": "4"})
    assert launched.env["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS=4 kept from the environment" in launched.notes


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, (1, 4, "hydra")),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "0"}, (0, 2, "openmpi")),
        ({"PMIX_RANK": "3"}, (3, None, "pmix")),
        ({"SLURM_PROCID": "2", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8"}, (2, 8, "slurm")),
        ({"PALS_RANKID": "5", "PALS_SIZE": "6"}, (5, 6, "pals")),
        ({"PMI_RANK": "nonsense"}, None),
    ],
)
def test_a_process_knows_whether_a_launcher_started_it(env, expected):
    assert launch.inside_launcher(env) == expected


def test_a_slurm_batch_script_is_no_rank():
    assert launch.inside_launcher({"SLURM_PROCID": "0", "SLURM_JOB_ID": "7", "SLURM_NTASKS": "8"}) is None


SHELL = {"SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PTY_PORT": "4242", "HOME": "/"}
OF_PMI2, OF_PMIX = {"PMI_RANK": "0", "PMI_SIZE": "1", "PMI_FD": "11"}, {"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.2.0"}


@pytest.mark.parametrize("told", [{}, OF_PMI2, OF_PMIX])
def test_an_interactive_slurm_shell_is_no_rank_and_keeps_its_connection_to_itself(told):
    assert jobs.inside_launcher(SHELL | told, lambda: True) is None
    assert jobs.without_shell(SHELL | told, lambda: True) == SHELL


@pytest.mark.parametrize("told", [
    {"PMI_RANK": "0", "PMI_SIZE": "2"},  # of an mpiexec in that shell
    {"PMI_RANK": "1", "PMI_SIZE": "2"},
    {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"},
])
def test_ranks_of_another_launcher_in_such_a_shell_are_ranks(told):
    assert jobs.inside_launcher(SHELL | told, lambda: True) is not None
    assert jobs.without_shell(SHELL | told, lambda: True) == SHELL | told


def test_a_step_that_such_a_shell_starts_has_no_terminal():
    step = SHELL | {"SLURM_STEP_ID": "1", "SLURM_STEP_NUM_TASKS": "2"}
    assert jobs.inside_launcher(step, lambda: False) == (0, 2, "slurm")
    assert jobs.without_shell(step | OF_PMIX, lambda: False) == step | OF_PMIX


def test_the_launcher_that_is_named_is_taken_as_it_is(tmp_path):
    for kind in ("mpich", "cray", "other"):
        build = launch.load_build(write_build(tmp_path, kind, kind))
        env = {"PARHELION_LAUNCHER": "srun --mpi=cray_shasta 'a b'", "SLURM_JOB_ID": "7", "PARHELION_HOSTS": "a,b"}
        launched = build.launch(2, "a.out", cores=8, env=env)
        assert launched.argv == ["srun", "--mpi=cray_shasta", "a b", "-n", "2", "a.out"]
        assert launched.false_start is None
        assert build.launch(2, "a.out", options=["-l"], env=env).argv[3:6] == ["-l", "-n", "2"]
    with pytest.raises(launch.BuildError, match="PARHELION_LAUNCHER=srun ' is not a command line"):
        build.launch(2, "a.out", env={"PARHELION_LAUNCHER": "srun '"})


@pytest.mark.parametrize("before", [{}, {"PARHELION_LAUNCHER": ""}, {"PARHELION_LAUNCHER": "srun"}])
@pytest.mark.parametrize("named", [None, "mpirun -q"])
def test_a_launcher_is_named_for_a_command_alone(monkeypatch, before, named):
    """A variable that the user did not set must not appear, not even empty: records hold it, and comparisons tell it as a difference."""
    monkeypatch.delenv("PARHELION_LAUNCHER", raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    with builds.launcher_named(named):
        assert os.environ.get("PARHELION_LAUNCHER") == (named or before.get("PARHELION_LAUNCHER"))
    assert os.environ.get("PARHELION_LAUNCHER") == before.get("PARHELION_LAUNCHER")


@pytest.mark.parametrize(("offered", "told"), [(["cray_shasta"], None), (["pmi2"], "srun offers no cray_shasta"), (None, "has no known mpiexec: name")])
def test_an_mpi_without_a_launcher_is_started_by_srun_or_asks_for_one(tmp_path, monkeypatch, offered, told):
    build = launch.load_build(write_build(tmp_path, "site", "cray", mpiexec="", library_version="MPI VERSION : CRAY MPICH version 8.1.25"))
    assert build.mpiexec is None and "launcher of MPI VERSION" in build.launcher
    monkeypatch.setattr(jobs, "offered", lambda: frozenset(offered or ()))
    env = {} if offered is None else {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "8"}
    if told is None:
        assert build.launch(2, "a.out", env=env).argv[:4] == ["srun", "--overlap", "--export=ALL", "--mpi=cray_shasta"]
        return
    with pytest.raises(launch.BuildError, match=told) as raised:
        build.launch(2, "a.out", env=env)
    pmi = "pmi2" if offered else "cray_shasta"
    assert f"--launcher 'srun --mpi={pmi}', or PARHELION_LAUNCHER" in str(raised.value) and str(build.mpi_library) in str(raised.value)


def test_cores_are_counted_at_least_one_and_at_most_the_hardware_threads():
    assert 1 <= launch.usable_cores() <= len(os.sched_getaffinity(0))


def test_output_arrives_line_by_line_while_the_command_runs():
    lines = []
    program = "print('one', flush=True); print('two')"
    done = launch.run_command([sys.executable, "-c", program], timeout=20, on_line=lines.append)
    assert (done.ok, lines) == (True, ["one", "two"])


def test_a_command_goes_on_when_nobody_reads_its_lines_any_more():
    def closed(line):
        raise BrokenPipeError

    program = "import sys; [print('x' * 1000, file=sys.stderr, flush=True) for _ in range(500)]"
    assert launch.run_command([sys.executable, "-c", program], timeout=20, on_line=closed).ok


@pytest.mark.parametrize("heard", ["line by line", "by the terminal"])
def test_an_open_mpi_launcher_that_fails_by_its_own_fault_is_started_again(tmp_path, heard, capfd):
    script = tmp_path / "mpiexec"
    fault = "The PMIx server's listener thread failed to start. We cannot"
    script.write_text(f'#!/bin/sh\necho x >> {tmp_path}/tries\n[ $(wc -l < {tmp_path}/tries) = 3 ] || {{ echo "{fault}" >&2; exit 1; }}\n')
    script.chmod(0o755)
    build = launch.load_build(write_build(tmp_path, "wheel", "openmpi", mpiexec=str(script)))
    lines = []
    done = launch.run(2, "program", build=build, on_line=lines.append if heard == "line by line" else None)
    said = capfd.readouterr().err
    assert done.returncode == 0 and said.count("starting again") == 2
    assert (len(lines) == 2) == (heard == "line by line") and said.count("We cannot") == 2 - len(lines)


def test_a_program_that_fails_is_not_started_again(tmp_path):
    script = tmp_path / "mpiexec"
    script.write_text(f"#!/bin/sh\necho x >> {tmp_path}/tries\nexit 1\n")
    script.chmod(0o755)
    build = launch.load_build(write_build(tmp_path, "wheel", "openmpi", mpiexec=str(script)))
    assert launch.run(2, "program", build=build).returncode == 1
    assert (tmp_path / "tries").read_text() == "x\n"


def test_the_exit_status_of_the_command_is_handed_on():
    done = launch.run_command([sys.executable, "-c", "raise SystemExit(7)"], timeout=20)
    assert (done.returncode, done.timed_out) == (7, False)


def test_a_command_that_hangs_is_ended_with_everything_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    child = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); os.setsid(); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    done = launch.run_command([sys.executable, "-c", parent], timeout=2)
    assert done.timed_out
    assert done.returncode is None
    assert not is_running(int(pid_file.read_text()))


def is_running(pid: int) -> bool:
    """True after ten seconds of patience: a killed process takes a moment to leave."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(
    ("program", "started"),
    [
        (["solver.py", "x"], [sys.executable, "solver.py", "x"]),
        (["python", "-c", "x"], [sys.executable, "-c", "x"]),
        (["python3", "a.py"], [sys.executable, "a.py"]),
        (["/usr/bin/python3", "a.py"], ["/usr/bin/python3", "a.py"]),
        (["sleep", "1"], ["sleep", "1"]),
    ],
)
def test_a_program_in_python_runs_under_the_python_that_starts_it(tmp_path, program, started):
    build = launch.load_build(write_build(tmp_path, "wheel", "mpich"))
    argv = build.launch(2, program[0], program[1:]).argv
    assert argv[-len(started) - 1 :] == ["2", *started]


def test_descendants_of_a_process_without_children_are_none():
    assert descendants(2**22 + 1) == []


def test_a_program_that_does_not_exist_is_an_error_at_once():
    with pytest.raises(FileNotFoundError):
        launch.run_command(["/nonexistent/program"])


def said(build: launch.Build, ranks: int, program: str, directory: Path, **options) -> list[str]:
    """What each rank gave to `say`, sorted. Through files: launchers may mix the ranks' output lines."""
    say = f"import os, pathlib; say = lambda *w: pathlib.Path({str(directory)!r}, str(os.getpid())).write_text(str(w))"
    lines: list[str] = []
    arguments = ["-c", f"{say}\n{program}"]
    done = launch.run(ranks, sys.executable, arguments, build=build, timeout=60, on_line=lines.append, **options)
    assert done.ok, "\n".join(lines)
    return sorted(path.read_text() for path in directory.iterdir())


@each_build
@pytest.mark.parametrize("ranks", [1, 5])
def test_every_rank_starts_and_knows_its_place(build, ranks, tmp_path):
    program = "from parhelion.launch import inside_launcher; say(*inside_launcher()[:2])"
    assert said(build, ranks, program, tmp_path) == [str((rank, ranks)) for rank in range(ranks)]


@each_build
def test_mpi4py_loads_the_builds_own_mpi_and_no_other(build, tmp_path):
    program = (
        "from mpi4py import MPI; maps = open('/proc/self/maps').read().split()\n"
        "found = sorted({word for word in maps if '/libmpi.so' in word})\n"
        "say(MPI.COMM_WORLD.size, ' '.join(MPI.Get_library_version().split()), *found)"
    )
    lines = said(build, 2, program, tmp_path)
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(f"(2, '{build.library_version}")
        assert line.count("libmpi.so") == 1
        assert os.path.realpath(build.mpi_library) in line


@each_build
@pytest.mark.skipif(launch.usable_cores() < 2, reason="binding is seen with two cores or more")
def test_bound_ranks_stand_on_cores_of_their_own(build, tmp_path):
    masks = said(build, 2, "say(sorted(os.sched_getaffinity(0)))", tmp_path)
    assert len(set(masks)) == 2


@each_build
@pytest.mark.skipif(launch.usable_cores() < 2, reason="binding is seen with two cores or more")
def test_ranks_may_be_left_unbound(build, tmp_path):
    masks = said(build, 2, "say(sorted(os.sched_getaffinity(0)))", tmp_path, bind=False)
    assert set(masks) == {str((sorted(os.sched_getaffinity(0)),))}


@each_build
def test_ranks_that_hang_are_ended_at_the_time_limit(build, tmp_path):
    program = f"import os, pathlib, time; pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch(); time.sleep(600)"
    done = launch.run(3, sys.executable, ["-c", program], build=build, timeout=5, on_line=lambda line: None)
    assert done.timed_out
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 3
    assert not any(map(is_running, pids))

"""Every option and argument of every command is given what no one means: it is refused, quickly, and nothing is written
outside of the folder in which the command runs."""

import itertools
import os
import signal
import warnings

import click
import pytest
import synthetic
from click.testing import CliRunner
from made_up_images import image

from parhelion.cli.main import root

pytestmark = pytest.mark.timeout(600)
ABSURD = ["-1", "0", "2147483647", "9223372036854775808", "1" * 5000, "", "²", "１", "nan", "inf", "1_0", "../../x", "/dev/zero", "a" * 10000]
ABSURD_TEXT = ["-1", "", "²", "../../x", "/dev/zero", "a" * 10000]  # to what takes any text, or a path, a number is text as well
SECONDS = 30
QUICK = ["--quick", "--repetitions", "2", "--launches", "1"]
# How a command is called so that nothing but the value in question is odd. The program of `simulate` is not there: status 3.
CALLS = {
    "bench apps": ["--app", "multigrid_cg,finite_volume", "--ranks", "2", "--extent", "4", "--mesh", "4", *QUICK, "--build", "none"],
    "bench halo": ["--ranks", "2", "--extent", "4", "--halo", "1", "--fields", "1", *QUICK],
    "bench gather": ["set-2", *QUICK],
    "bench alltoall": ["--ranks", "2", "--size", "1", *QUICK],
    "bench ghosts": ["--ranks", "2", "--extent", "2", "--vdim", "1", *QUICK, "--build", "none"],
    "compare": ["run", "run"],
    "config": ["--build", "none"],
    "demo": ["--ranks", "2", "--mesh-cells", "5000", "--build", "none"],
    "doctor": [],
    "bench image": ["x", "--build", "none"],
    "model fit": ["run", "--variant", "hand_packed", "--file", "fit.json"],
    "model published": [],
    "partition": ["mesh.vtk", "--parts", "1"],
    "place": ["--grid", "4", "--nodes", "2"],
    "profile run": ["--ranks", "1", "--build", "none", "true"],
    "profile show": ["profile.json"],
    "report": ["run"],
    "run": ["--ranks", "1", "true"],
    "runs export": ["run", "--file", "out.csv"],
    "runs history": ["--store", "."],
    "runs import": ["osu.txt"],
    "runs list": [],
    "runs show": ["run"],
    "runs tag": ["run", "a=b"],
    "model schedule": ["--grid", "2x2", "--extent", "4"],
    "model simulate": ["--parameters", "nothing"],  # before anything is built
}
OSU = "# OSU MPI Alltoall Latency Test v7.0\n# Size       Avg Latency(us)\n1 1.0\n"


def commands(group=root, path=()):
    """Path and command of everything that runs; a matrix takes the benchmarks' own commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands())


def test_every_command_has_a_call():
    assert set(CALLS) == set(ALL)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder deep inside another, with a file of each kind."""
    import json

    import meshio

    home = tmp_path / "one" / "two"
    home.mkdir(parents=True)
    monkeypatch.chdir(home)
    synthetic.write_build(tmp_path / "builds" / "synthetic")
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: tmp_path / "builds")
    synthetic.write_record(home / "run", launches=2, repetitions=4, cases=synthetic.halo_cases((1,), (1,)))
    tetra = [("tetra", [[0, 1, 2, 3]])]
    meshio.Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tetra).write(home / "mesh.vtk")
    image(home / "image")
    (home / "set-2").mkdir()
    for rank in range(2):
        words = (2, 1, 3 if rank == 0 else 1)
        (home / "set-2" / f"data{rank + 1:03d}").write_bytes(b"".join(word.to_bytes(4, "little") for word in words))
    (home / "figures.json").write_text(json.dumps({"schema": "parhelion.model/1", "latency_s": {"node": 1e-6}}))
    (home / "osu.txt").write_text(OSU)
    return home


def too_long(*_):
    raise TimeoutError(f"the command took more than {SECONDS} s")


def invoke(words):
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return CliRunner().invoke(root, words, prog_name="parhelion")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def odd_calls(name, command):
    """The call with one odd value more; options come last, where they win over the same option before."""
    call = CALLS[name]
    takes_commands = command.context_settings.get("allow_interspersed_args") is False  # what follows the first argument belongs to another program
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.is_flag:
            for value in ABSURD_TEXT if isinstance(parameter.type, (click.types.StringParamType, click.Path)) else ABSURD:
                added = [parameter.opts[-1], value]
                yield [*added, *call] if takes_commands else [*call, *added]
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    if arguments and not takes_commands:
        for place, value in itertools.product(range(len(arguments)), ABSURD):
            options = call[len(arguments):]
            words = [*call[:place], value, *call[place + 1 : len(arguments)]]
            yield [*options, "--", *words]


def files_outside(home):
    top = home.parents[1]
    return {path for path in top.rglob("*") if path.is_file() and home not in path.parents and "builds" not in path.parts}


# Options that name a file to write may name any; so `../../x` is no fault there.
WRITES = {"--json", "--csv", "--out", "--html", "--markdown", "--speedscope", "--file", "--picture", "--rank-file", "--parameters", "--build-folder", "--report", "--figure"}


@pytest.mark.parametrize("name", ALL)
def test_absurd_values_are_refused(name, workplace):
    command = ALL[name]
    for words in odd_calls(name, command):
        done = invoke([*name.split(), *words])
        shown = [word[:40] for word in words]
        assert done.exception is None or isinstance(done.exception, SystemExit), (shown, done.exc_info)
        assert done.exit_code in ((0, 2, 3) if name == "model simulate" else (0, 2)), (shown, done.exit_code, done.output[-500:])
        if not WRITES & {words[0], words[-2]}:
            assert files_outside(workplace) == set(), shown
        for path in files_outside(workplace):
            path.unlink()


def test_pipes_and_devices_are_not_waited_for(workplace):
    os.mkfifo(workplace / "pipe")
    for call in (["report"], ["runs", "show"], ["runs", "import"], ["partition"], ["partition", "--parts", "1"],
                 ["profile", "show"], ["bench", "gather"], ["compare", "image"], ["place", "--grid", "4", "--topology"],
                 ["model", "predict", "--grid", "2", "--topology", "node:2", "--parameters"]):
        for file in ("pipe", "/dev/zero", "/dev/stdin", "."):
            done = invoke([*call, f"xml:{file}" if call[0] == "place" else file])
            assert done.exit_code == 2, (call, file, done.output)
            assert isinstance(done.exception, SystemExit), (call, file, done.exc_info)


def test_a_build_whose_mpi_is_gone_is_refused_before_ranks_in_python_start(workplace):
    done = invoke(["bench", "ghosts", *CALLS["bench ghosts"], "--build", "synthetic"])
    assert done.exit_code == 2 and "libmpi.so, which no longer exists" in " ".join(done.output.split()), done.output
    assert not (workplace / "runs").exists()

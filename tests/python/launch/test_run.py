"""`parhelion run`: which MPI and launcher a program gets, what the options hand over, how it ends."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from measured import built, need_build

from parhelion.launch import Build, BuildError, default_build, usable_builds, mpi, program
from parhelion.launch.program import choose, linked_mpi
from parhelion.errors import InputError
from parhelion.cli.main import root
from parhelion.cli.run import run, setting, words_of

KEPT = {key: value for key, value in os.environ.items() if not key.startswith(("PARHELION_", "PMI_", "OMPI_COMM", "SLURM_"))}
RANK = "from mpi4py import MPI; comm = MPI.COMM_WORLD\n"


def parhelion_run(*words, text="", **env):
    return subprocess.run([sys.executable, "-m", "parhelion", "run", *map(str, words)], input=text, capture_output=True, text=True,
                          timeout=60, env=KEPT | env)


def refused(*words, **env):
    """The command in this process, where it starts no ranks."""
    gone = {name: None for name in os.environ if name not in KEPT}
    return CliRunner(env=gone | env).invoke(root, ["run", *map(str, words)], prog_name="parhelion")


@pytest.mark.parametrize(
    ("words", "started"),
    [
        (["p", "solver.py", "-m"], ["p", "-m", "mpi4py", "solver.py", "-m"]),
        (["p", "-u", "-X", "dev", "solver.py"], ["p", "-u", "-X", "dev", "-m", "mpi4py", "solver.py"]),
        (["p", "-W", "error", "-m", "solver", "x"], ["p", "-W", "error", "-m", "mpi4py", "-m", "solver", "x"]),
        (["p", "-c", "pass"], ["p", "-m", "mpi4py", "-c", "pass"]),
        (["p", "-m", "mpi4py", "solver.py"], ["p", "-m", "mpi4py", "solver.py"]),
        (["p", "--version"], ["p", "--version"]),
    ],
)
def test_python_programs_are_started_as_mpi4py_starts_them(words, started):
    assert program.ends_together(words) == started


def test_a_script_is_run_by_what_its_first_line_says(tmp_path):
    for name, line in {"plain": "#!/usr/bin/env python3", "own": "#!/opt/x/bin/python3.12 -u", "shell": "#!/bin/sh"}.items():
        (tmp_path / name).write_text(line + "\n")
    assert program.python_words([f"{tmp_path}/plain", "x"]) == [sys.executable, f"{tmp_path}/plain", "x"]
    assert program.python_words([f"{tmp_path}/own"]) == ["/opt/x/bin/python3.12", "-u", f"{tmp_path}/own"]
    assert program.python_words([f"{tmp_path}/shell"]) is None


def test_options_are_handed_over_by_the_librarys_variables():
    how = run.make_context("run", ["--transport", "ucx", "--timeout", "300", "--neighbor-timeout", "90", "--check", "x"]).params
    assert setting(how) == {"PARHELION_TRANSPORT": "ucx", "PARHELION_TIMEOUT": "90", "PARHELION_CHECK": "1"}
    assert setting(run.make_context("run", ["x"]).params) == {}


def test_on_hosts_the_same_is_started_without_the_option():
    options = ["--on-hosts", "2", "-n", "4", "--timeout", "25", "--neighbor-timeout", "2.5", "--check", "--option=-l"]
    words = ["--ranks=4", "--timeout=25.0", "--neighbor-timeout=2.5", "--check", "--option=-l", "--", "solver.py", "--on-hosts"]
    assert sorted(words_of(run.make_context("run", [*options, "solver.py", "--on-hosts"]))[:-3]) == sorted(words[:-3])
    assert words_of(run.make_context("run", [*options, "solver.py", "--on-hosts"]))[-3:] == words[-3:]


@pytest.mark.every_build
def test_a_compiled_program_gets_the_mpi_that_it_is_linked_to():
    need_build()
    for build in map(usable_builds().get, built()):
        assert linked_mpi(build.program).library.resolve() == build.mpi_library.resolve()
        assert choose([str(build.program)], None)[1] == build


@pytest.mark.parametrize("soname", ["libmpi.so.12", "libmpi.so.77"])
def test_a_program_that_was_linked_without_an_mpi_gets_that_of_the_environment(soname, monkeypatch, tmp_path):
    def mpi_of(name):
        if name != "libmpi.so.12":
            raise mpi.MpiMissing(name)
        return mpi.Mpi(tmp_path / name, name, "", "mpich")

    monkeypatch.setattr(program, "mpi_of", mpi_of)
    monkeypatch.setattr(program, "ask", lambda *_, **__: SimpleNamespace(stdout=f"\t{soname} => not found\n"))
    (tmp_path / "ring").write_bytes(b"\x7fELF")
    if soname == "libmpi.so.12":
        assert linked_mpi(tmp_path / "ring") == (tmp_path / soname, False)
    else:
        with pytest.raises(BuildError, match=f"ring is linked to {soname}, which is not found: load the module"):
            linked_mpi(tmp_path / "ring")


@pytest.mark.parametrize("named", [[], ["--build"]])
def test_a_program_that_does_not_say_where_its_mpi_lies_finds_it(named, tmp_path):
    need_build()
    if not shutil.which("gcc"):
        pytest.skip("skipped: gcc is not installed")
    build = default_build()
    (tmp_path / "main.c").write_text("int MPI_Init(void*, void*);\nint MPI_Finalize(void);\nint main(void) { return MPI_Init(0, 0) + MPI_Finalize(); }\n")
    subprocess.run(["gcc", "main.c", build.mpi_library, "-Wl,--allow-shlib-undefined", "-o", "ring"], cwd=tmp_path, check=True)
    done = parhelion_run(*named, *[build.name for _ in named], "-n", 2, tmp_path / "ring", LD_LIBRARY_PATH="")
    assert done.returncode == 0, done.stderr


def test_another_build_than_that_of_the_program_is_refused():
    need_build()
    own = default_build()
    others = [build for build in map(usable_builds().get, built()) if build.mpi_library.resolve() != own.mpi_library.resolve()]
    if not others:
        pytest.skip("needs builds for two MPIs: make build MPI=mpich and make build MPI=openmpi")
    with pytest.raises(InputError, match=f"is linked to {own.mpi_library}"):
        choose([str(own.program)], others[0].name)


def test_a_program_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="solver-of-nobody is not .* such as ./solver-of-nobody, and check that it is executable"):
        choose(["solver-of-nobody"], None)
    with pytest.raises(InputError, match="/nowhere/solver is not an executable program: check the path, and that it is executable"):
        choose(["/nowhere/solver"], None)


STUB = """
#include <stdio.h>
int MPI_Get_library_version(char* text, int* length) { return *length = sprintf(text, "%s", VERSION), 0; }
int MPI_Init(void* a, void* b) { return 0; }
"""
VENDORS = [
    ("libmpi_cray.so.12", "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)"),
    ("libmpi_gnu_123.so.12", "MPI VERSION    : CRAY MPICH version 8.1.30.5 (ANL base 3.4a2)"),
    ("libmpi_ibm.so.3", "IBM Spectrum MPI, Version 10.4.0"),
    ("libmpi.so.77", "Fugaku MPI 1"),
]


@pytest.fixture
def vendors_program(tmp_path):
    """Compiles a program that is linked to an MPI of this name, or has that MPI inside."""
    if not shutil.which("gcc"):
        pytest.skip("skipped: gcc is not installed")
    (tmp_path / "stub.c").write_text(STUB)
    (tmp_path / "main.c").write_text("int MPI_Init(void*, void*);\nint main(void) { return MPI_Init(0, 0); }\n")

    def compiled(soname, version, static=False):
        define, program = f'-DVERSION="{version}"', tmp_path / "solver"
        parts = ["stub.c"] if static else [soname, "-Wl,-rpath,$ORIGIN"]
        if not static:
            # As vendors have it: the interface of another language comes first.
            part = soname.replace(".so", "_mpifh.so")
            for name in (soname, part):
                subprocess.run(["gcc", "-shared", "-fPIC", define, f"-Wl,-soname,{name}", "stub.c", "-o", name], cwd=tmp_path, check=True)
            parts = ["-Wl,--no-as-needed", part, *parts]
        subprocess.run(["gcc", define, "main.c", *parts, "-o", program], cwd=tmp_path, check=True)
        return program

    return compiled


@pytest.mark.parametrize(("soname", "version"), VENDORS)
def test_a_vendors_mpi_is_known_by_what_it_says_and_never_started_by_another_ones_launcher(soname, version, vendors_program, tmp_path):
    need_build()
    program = vendors_program(soname, version)
    done = refused("-n", 2, program)
    assert done.exit_code == 2 and f"{tmp_path / soname} ({version.split(',')[0].split(' 10')[0].split('  ')[0]}" in done.stderr, done.stderr
    pmi = {"libmpi_ibm.so.3": "pmix", "libmpi.so.77": "pmi2"}.get(soname, "cray_shasta")
    assert f"--launcher 'srun --mpi={pmi}', or PARHELION_LAUNCHER" in done.stderr
    launcher = tmp_path / "site-launcher"
    launcher.write_text('#!/bin/sh\necho "$@"\n')
    launcher.chmod(0o755)
    ways = [({}, ["--launcher", f"{launcher} --mpi=own"]), ({"PARHELION_LAUNCHER": f"{launcher} --mpi=own"}, [])]
    for env, option in ways if (soname, version) == VENDORS[0] else ways[1:]:
        done = parhelion_run("-n", 2, *option, program, "x", **env)
        assert (done.returncode, done.stdout) == (0, f"--mpi=own -n 2 {program} x\n"), done.stderr


def test_a_program_with_an_mpi_inside_is_not_started_by_another_ones_launcher(vendors_program):
    need_build()
    program = vendors_program("none", "MPICH 9", static=True)
    done = parhelion_run("-n", 2, program)
    assert done.returncode == 2 and "has an unknown MPI" in done.stderr and "--launcher" in done.stderr
    assert parhelion_run("-n", 2, "--launcher", "env", program).returncode != 2  # `env -n 2` is its own affair
    assert parhelion_run("-n", 2, "--build", default_build().name, program).returncode == 0


def test_a_launcher_that_is_not_there_is_named():
    need_build()
    for done in (parhelion_run("-n", 2, "--launcher", "no-such-launcher -x", "true"), parhelion_run("-n", 2, "--launcher", "a 'b", "true")):
        assert done.returncode == 2 and "Traceback" not in done.stderr and ("no-such-launcher" in done.stderr or "is not a command line" in done.stderr)


@pytest.mark.parametrize("words", [["{}/heat.py"], ["python", "-u", "-W", "error", "{}/heat.py", "x"], ["python", "-m", "mpi4py", "{}/heat.py"]])
def test_a_script_that_is_not_there_is_refused_once(words, tmp_path):
    need_build()
    done = refused("-n", 2, *[word.format(tmp_path) for word in words])
    assert (done.exit_code, done.stderr) == (2, f"Error: there is no {tmp_path}/heat.py: check the path of the program\n")


@pytest.mark.parametrize(("words", "missing"), [
    (["-m", "nomodule"], "nomodule"), (["-X", "dev", "-m", "nomodule.solver", "x"], "nomodule"), (["-m", "mpi4py", "-m", "nomodule"], "nomodule"),
    (["-m", "solvers.nomodule"], "solvers.nomodule"), (["-m", "solvers.heat.nomodule"], "solvers.heat.nomodule"), (["-m", "json.nomodule"], "json.nomodule")])
def test_a_module_that_is_not_there_is_refused_once(words, missing, tmp_path):
    need_build()
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "heat.py").touch()
    done = refused("-n", 2, "python", *words, PYTHONPATH=str(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "") and re.fullmatch(rf"Error: \S+ finds no module {missing}: [^\n]+\n", done.stderr), done.stderr


def test_an_error_inside_a_package_is_its_own(tmp_path):
    need_build()
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "__init__.py").write_text("import nomodule")
    done = parhelion_run("-n", 1, "python", "-m", "solvers.heat", PYTHONPATH=str(tmp_path))
    assert "ModuleNotFoundError: No module named 'nomodule'" in done.stderr


def test_a_module_that_is_there_is_started(tmp_path):
    need_build()
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "heat.py").write_text("import sys; sys.stdout.write('started\\n')")  # at once: lines of two ranks may mix
    done = parhelion_run("-n", 2, "python", "-m", "solvers.heat", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "started\nstarted\n"), done.stderr


def test_a_module_and_code_are_no_files():
    assert [program.script_of(["p", *words]) for words in (["-m", "x"], ["-c", "x"], ["-"], [], ["-u"])] == [None] * 5


MISTYPED = [
    (["--np", "2", "true"], "--np"),
    (["--verbos", "-n", "2", "true"], "--verbos"),
    (["-V", "-n", "2", "true"], "-V"),
    (["true", "-n", "2"], "-n is after the program and goes to it: put it first, parhelion run -n N true"),
    (["true", "-n2"], "-n2 is after the program and goes to it: put it first, parhelion run -n 2 true"),
    (["true", "--ranks=2"], "parhelion run -n 2 true"),
    (["true", "--np", "2"], "--np is after the program"),
    (["heat.py", "-np", "2"], "-np is after the program"),
]


@pytest.mark.parametrize(("words", "told"), MISTYPED)
def test_mistyped_options_are_no_programs(words, told, all_without_extras):
    done = refused(*words)
    for status, said in ((done.exit_code, done.stderr), all_without_extras["run", *words]):
        assert status == 2 and told in said and "such as ./" not in said, said


@pytest.mark.parametrize("command", [["profile", "run"]])
def test_other_commands_that_start_a_program_refuse_them_too(command):
    refused = CliRunner().invoke(root, [*command, "--verbos", "true"])
    assert refused.exit_code == 2 and "--verbos" in refused.output, refused.output


def test_ranks_are_counted_as_with_mpiexec():
    need_build()
    for done in (parhelion_run("-np", 2, "echo", "-n", "x"), without_extras("run", "-np", "2", "echo", "-n", "x")):
        assert (done.returncode, done.stdout) == (0, "xx"), done.stderr


def test_ranks_hear_of_the_options_and_rank_0_reads_what_comes_in():
    need_build()
    code = "import os, sys; print(os.environ['PARHELION_TRANSPORT'], comm.size, sys.stdin.read().split()) if comm.rank == 0 else comm.Get_rank()"
    done = parhelion_run("-n", 2, "--transport", "mpi", "python", "-c", RANK + code, text="some input")
    assert done.returncode == 0 and done.stdout == "mpi 2 ['some', 'input']\n", done.stdout + done.stderr


def test_an_exception_on_one_rank_ends_all():
    need_build()
    done = parhelion_run("-n", 2, "python", "-c", RANK + "1 / 0 if comm.rank == 1 else comm.Barrier()")
    assert done.returncode != 0 and "ZeroDivisionError" in done.stderr, done.stderr


def test_the_exit_status_is_the_programs(tmp_path):
    need_build()
    script = tmp_path / "fails.sh"
    script.write_text("#!/bin/sh\nexit 7\n")
    script.chmod(0o755)
    assert parhelion_run("-n", 1, script).returncode == 7


def test_ranks_are_stopped_after_the_timeout():
    need_build()
    done = parhelion_run("-n", 2, "--timeout", 1, "sleep", 60)
    assert done.returncode == 124 and "stopped after 1 s (--timeout)" in done.stderr


@pytest.mark.parametrize("limit", ["nan", "inf", "0", "-5", "1e999", "soon"])
def test_a_timeout_is_a_positive_number(limit):
    for option in ("--timeout", "--neighbor-timeout"):
        done = refused("-n", 2, option, limit, "--", "true")
        assert done.exit_code == 2 and option in done.stderr


def test_inside_a_launcher_it_says_so_once():
    refused = parhelion_run("-n", 2, "true", PMI_RANK="0", PMI_SIZE="2")
    assert refused.returncode == 2 and "already started this as rank 0 of 2" in refused.stderr
    other = parhelion_run("-n", 2, "true", PMI_RANK="1", PMI_SIZE="2")
    assert (other.returncode, other.stderr) == (2, "")


def test_without_a_number_of_ranks_it_asks_for_one():
    done = parhelion_run("true")
    assert done.returncode == 2 and "-n 4" in done.stderr


WITHOUT_EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(["rich", "msgspec", "scipy", "uncertainties"]))
from parhelion.cli.main import main
main()
"""


def without_extras(*words):
    return subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, *words], capture_output=True, text=True, timeout=60, env=KEPT)


def test_it_needs_no_package_of_the_command_line():
    need_build()
    code = RANK + "import sys; comm.rank or sys.stdout.write(f'{comm.size} {sys.argv[1:]}\\n')"
    done = without_extras("run", "-n", "2", "--transport=mpi", "--option=-l", "--", "python", "-c", code, "-n", "--x")
    assert done.returncode == 0 and done.stdout == "[0] 2 ['-n', '--x']\n", done.stdout + done.stderr


UNUSABLE = [
    (["run", "-n", "x", "true"], "Invalid value for '-n' / '-np' / '--ranks': 'x' is not a whole number from 1 to"),
    (["run", "--timeout", "nan", "true"], "'nan' is not a number"),
    (["run", "--transport", "", "true"], "name one, or leave the option out"),
    (["run", "-n", "2"], "PROGRAM"),
    (["run", "true"], "-n 4"),
    (["profile", "run", "-n", "2", "true"], "-m pip install"),
    (["doctor"], "-m pip install"),
]
ONE_BY_ONE = """
import contextlib, io, json, sys
def main():
    sys.modules.update(dict.fromkeys(["rich", "msgspec", "scipy", "uncertainties"]))
    from parhelion.cli.main import main
    for words in json.loads(sys.stdin.read()):
        sys.argv = ["parhelion", *words]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                main()
            except SystemExit as end:
                status = end.code
        yield status, said.getvalue()
print(json.dumps(list(main())))
"""


@pytest.fixture(scope="module")
def all_without_extras():
    """The status and the words of what is refused, by command line, in one process."""
    lines = [["run", *words] for words, _ in MISTYPED] + [words for words, _ in UNUSABLE]
    done = subprocess.run([sys.executable, "-c", ONE_BY_ONE], input=json.dumps(lines), capture_output=True, text=True, timeout=60, env=KEPT, check=True)
    return dict(zip(map(tuple, lines), json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("words", "told"), UNUSABLE)
def test_without_them_what_cannot_be_used_is_said_too(words, told, all_without_extras):
    status, said = all_without_extras[tuple(words)]
    assert status == 2 and told in said, said


def test_help_without_them_is_the_same():
    assert without_extras("run", "--help").stdout.splitlines()[2:] == parhelion_run("--help").stdout.splitlines()[2:]


def test_hosts_of_pbs_and_lsf_are_those_that_ranks_are_spread_over(tmp_path):
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\nb\n")
    for env in ({"PBS_NODEFILE": str(nodes)}, {"LSB_MCPU_HOSTS": "a 2 b 2"}):
        launch = default_build_of(tmp_path).launch(4, "x", env={"PATH": "/bin", **env}, cores=2)
        assert launch.argv[1:8] == ["-bind-to", "core", "-hosts", "a,b", "-ppn", "2", "-n"], launch.argv


def default_build_of(folder: Path) -> Build:
    return Build("any", "mpich", folder, folder / "bin/mpiexec", folder, "MPICH Version: 5.0.2", "libmpi.so.12", folder)

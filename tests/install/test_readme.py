"""The examples of the first page run as they stand there and print what is said; the README is short, and the site begins as it does."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from parhelion import launch

from snippets import ROOT, WITH_EXAMPLES, blocks, promised_output, runs, write_files

BUILD = launch.default_build()
TREE = ROOT / "build" / BUILD.name
RANKS = 2


def output_of(program: Path | str, directory: Path, *args: str) -> list[str]:
    lines: list[str] = []
    done = launch.run(RANKS, program, args, build=BUILD, cwd=directory, timeout=120, on_line=lines.append)
    assert done.ok, "\n".join(lines)
    return lines


def tool(name: str) -> str:
    linked = ROOT / ".venv" / "tools" / name
    return str(linked) if linked.exists() else shutil.which(name) or pytest.skip(f"no {name} here")


def execute(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("program", ["heat.py", "assemble.py"])
def test_the_python_examples_print_what_the_page_says(program, tmp_path):
    write_files(tmp_path, program)
    assert output_of(sys.executable, tmp_path, program) == promised_output(program)


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_commands_for_programs_in_python_run_as_they_stand(page, tmp_path):
    """With the MPI's own launcher: none of this project's commands is needed."""
    if not (ROOT / ".venv" / "bin" / "mpiexec").exists():
        pytest.skip("needs a build for MPICH in .venv: make build MPI=mpich")
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    commands = [(command, output) for command, output in runs(page) if command.endswith(".py")]
    assert commands
    for command, output in commands:
        assert command.startswith(".venv/bin/mpiexec ")
        write_files(tmp_path, command.split()[-1])
        done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout.splitlines()) == (0, output), done.stderr


def test_the_compiled_examples_build_against_an_installation_and_print_what_the_page_says(tmp_path):
    if not (TREE / "cmake_install.cmake").exists():
        pytest.skip(f"{TREE} is not there: the package was not built by make")
    cmake, prefix = tool("cmake"), tmp_path / "prefix"
    write_files(tmp_path, "heat.cpp", "ring.c", "ring.f90", "CMakeLists.txt")
    execute(cmake, "--install", str(TREE), "--prefix", str(prefix), cwd=tmp_path)
    ninja = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    execute(cmake, "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release", *ninja, cwd=tmp_path)
    execute(cmake, "--build", "build", cwd=tmp_path)
    with_fortran = (prefix / "include" / "parhelion" / "modules" / "parhelion.mod").exists()
    for program in ["heat", "ring", *(["ring_fortran"] if with_fortran else [])]:
        assert output_of(tmp_path / "build" / program, tmp_path) == promised_output(program)


def test_the_commands_that_the_readme_names_exist():
    described = {line.split()[1] for text in blocks("README.md", "sh") for line in text.splitlines() if line.startswith("make ")}
    known = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert described, "the README shows no make commands"
    assert described <= {line.split()[0] for line in known.splitlines() if line.startswith("  ")}


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


def test_the_site_begins_with_the_programs_of_the_readme():
    index = (ROOT / "docs" / "index.md").read_text()
    shown = blocks("README.md", "python", "cpp", "fortran")
    assert len(shown) == 3
    assert [text for text in shown if textwrap.indent(text, "    ") not in index] == []

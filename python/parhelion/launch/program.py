"""Choose the Python and the MPI for a program that the user names.

The dynamic linker finds the MPI of a compiled program; Python programs use a build's MPI.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from .builds import LAUNCHER, Build, BuildError, WheelBuild, find_build, usable_builds, program_words
from .kinds import kind_of
from .mpi import Mpi, MpiMissing, asked_version, mpi_of, name_of
from .process import ask

TAKE_A_WORD = ("-W", "-X", "--check-hash-based-pycs")
NO_SCRIPT = ("-m", "-c", "-")
TOGETHER = (["-m", "mpi4py"], ["-m", "mpi4py.run"])
# Prints the first package or module of a path that is not found; imports a package only if necessary.
FIND = """
import importlib.util, sys
from importlib.machinery import PathFinder
spec, names = None, sys.argv[1].split(".")
for n in range(1, len(names) + 1):
    name, within = ".".join(names[:n]), spec and spec.submodule_search_locations
    try:
        spec = within and PathFinder.find_spec(name, within) or importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if not f"{sys.argv[1]}.".startswith(f"{error.name}."):
            break
        spec = None
    except Exception:
        break
    if spec is None:
        sys.exit(print(name or sys.argv[1]) or 3)
"""
LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|mpi_\w+|mpich_\w+)\.so[.\d]*) => (not found|.+?)(?: \(0x[0-9a-f]+\))?$", re.MULTILINE)
A_PART = re.compile(r"_(?:gtl_\w+|cxx|mpifh|usempi\w*|f77|f90|f08|java)\.so")  # an MPI's language bindings


def choose(program: Sequence[str], name: str | None) -> tuple[list[str], Build, list[str]]:
    """Return the command line, the build to start it under, and notes. `name`: the requested build. Raises `InputError`."""
    python = python_words(program)
    if python:
        _refuse_missing(python)
        return ends_together(python), find_build(name), []
    words = program_words(program)
    found = shutil.which(words[0])
    if found is None:
        remedy = "check the path, and" if "/" in words[0] else f"give its path, such as ./{words[0]}, and check"
        raise InputError(f"{words[0]} is not an executable program: {remedy} that it is executable")
    linked = linked_mpi(Path(found))
    if linked is None:
        return _without_library(words, Path(found), name)
    build = build_of_library(linked.library) if name is None else find_build(name)
    if name is not None:
        _refuse_another(words[0], linked.library, build)
    return words, build if linked.is_found or isinstance(build, WheelBuild) else replace(build, names_folder=True), []


class Linked(NamedTuple):
    """The MPI library of a compiled program, and whether the dynamic linker finds it."""

    library: Path
    is_found: bool


def linked_mpi(program: Path) -> Linked | None:
    """Return the MPI library that a compiled program loads, or None. Raises `BuildError` if it is missing.

    ``ldd`` applies LD_LIBRARY_PATH and RUNPATH. If it finds no MPI, use this environment's, which the launch adds to LD_LIBRARY_PATH:
    programs linked without an MPI, such as Fortran's, have no path to one.
    """
    if not is_compiled(program):
        return None
    done = ask(["ldd", str(program)])
    found = [each for each in LIBRARY.findall(done.stdout) if not A_PART.search(each[0])]
    if not found:
        return None
    name, place = found[0]
    try:
        return Linked(mpi_of(name).library, False) if place == "not found" else Linked(Path(place), True)
    except MpiMissing:
        raise BuildError(f"{program} is linked to {name}, which is not found: load the module of that MPI, or name its folder in LD_LIBRARY_PATH") from None


def is_compiled(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def build_of_library(library: Path) -> Build:
    """Return the build for this MPI, or a description of an MPI without a build; `mpiexec` is None if none lies beside the library."""
    same = [build for build in usable_builds().values() if build.mpi_library.resolve() == library.resolve()]
    if same:
        return same[0]
    version = asked_version(library)
    mpi = Mpi(library, library.name, version, kind_of(version))
    return Build(mpi.soname, mpi.kind, mpi.home, mpi.mpiexec, library.parent, name_of(version), mpi.soname, library.parent)


def _without_library(words: list[str], program: Path, name: str | None) -> tuple[list[str], Build, list[str]]:
    compiled = is_compiled(program)
    if compiled and name is None and not os.environ.get(LAUNCHER) and _mentions_mpi(program):
        raise InputError(f"{words[0]} has an unknown MPI (linked statically, or loaded at run time): name its launcher, such as --launcher "
                         "/opt/mpi/bin/mpiexec, or a build with --build")
    build = find_build(name)
    asked = compiled or name or os.environ.get(LAUNCHER)
    return words, build, [] if asked else [f"{words[0]} is a script: it is started under the MPI of build {build.name}, {build.library_version}"]


def _mentions_mpi(program: Path) -> bool:
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"MPI_Init") >= 0


def _refuse_missing(words: list[str]) -> None:
    """Report a missing script or module once, instead of a traceback on every rank."""
    at = _program_at(words)
    if words[at : at + 2] in TOGETHER:
        words = [*words[:at], *words[at + 2 :]]
        at = _program_at(words)
    script = script_of(words)
    if script is not None and not script.exists():
        raise InputError(f"there is no {script}{'' if script.is_absolute() else f' in {Path.cwd()}'}: check the path of the program")
    if words[at : at + 1] == ["-m"] and len(words) > at + 1:
        found = ask([*words[:at], "-c", FIND, words[at + 1]])
        if found.returncode == 3:
            raise InputError(f"{words[0]} finds no module {found.stdout.strip()}: check its name and the current folder, or install it for that Python")


def _refuse_another(program: str, library: Path, build: Build) -> None:
    if library.resolve() != build.mpi_library.resolve():
        raise InputError(f"{program} is linked to {library}, and build {build.name} is built for {build.mpi_library}, whose launcher would start "
                         "each rank alone: leave --build out, or link the program to that MPI")


def python_words(words: Sequence[str]) -> list[str] | None:
    """Return the command line with an interpreter if the program is Python's (also by its ``#!`` line), else None."""
    named = program_words(words)
    if _is_python(named[0]):
        return named
    interpreter = _interpreter(Path(words[0]))
    return program_words([*interpreter, *words]) if interpreter and _is_python(interpreter[0]) else None


def ends_together(words: Sequence[str]) -> list[str]:
    """Insert ``-m mpi4py``, which aborts all ranks on an exception instead of leaving them blocked.

    `words` begin with a Python; unchanged without mpi4py or without a program.
    """
    at = _program_at(words)
    if at >= len(words) or words[at : at + 2] in TOGETHER or not importlib.util.find_spec("mpi4py"):
        return list(words)
    return [*words[:at], "-m", "mpi4py", *words[at:]]


def script_of(words: Sequence[str]) -> Path | None:
    """Return the script that `words`, which begin with a Python, run; None for ``-m``, ``-c`` or no program."""
    at = _program_at(words)
    return Path(words[at]) if at < len(words) and words[at] not in NO_SCRIPT else None


def _program_at(words: Sequence[str]) -> int:
    """Return the index behind Python's own options."""
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in NO_SCRIPT:
        at += 2 if words[at] in TAKE_A_WORD else 1
    return at


def _is_python(program: str) -> bool:
    return Path(program).name.rstrip("0123456789.") == "python"


def _interpreter(script: Path) -> list[str]:
    """Return the words of a script's ``#!`` line, without ``env``."""
    try:
        with script.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return []
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    return words[1:] if words and Path(words[0]).name == "env" else words

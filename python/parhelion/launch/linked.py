"""Which MPI a program is started under: a compiled one is asked what it is linked to, Python gets that of a build. None is guessed."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from .child import ask
from .flavor import Flavor, FlavorError, LAUNCHER, find_flavor, flavors
from .program import ends_together, program_words, python_words, script_of
from .there import MpiMissing, kind_of, launcher_of, mpi_of, name_of

LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|mpi_\w+)\.so[.\d]*) => (not found|\S+)", re.MULTILINE)
A_PART = re.compile(r"_(?:cxx|mpifh|usempi\w*|f77|f90|f08|java)\.so")  # of an MPI: its interfaces of other languages
# In a process of its own: what is loaded for a look must not stay in this one.
ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


def choose(program: Sequence[str], name: str | None) -> tuple[list[str], Flavor, list[str]]:
    """The words to start, the MPI to start them under, and what the user should know of that. `name`: the build that was asked for."""
    python = python_words(program)
    if python:
        _refuse_missing(script_of(python))
        return ends_together(python), find_flavor(name), []
    words = program_words(program)
    found = shutil.which(words[0])
    if found is None:
        raise InputError(f"{words[0]} is no program that can be run: give its path, such as ./{Path(words[0]).name}, and check that it is executable")
    library = linked_mpi(Path(found))
    if library is None:
        return _without_library(words, Path(found), name)
    own = flavor_of_library(library)
    if name is None:
        return words, own, []
    _refuse_another(words[0], library, find_flavor(name))
    return words, find_flavor(name), []


def linked_mpi(program: Path) -> Path | None:
    """The MPI library that a compiled program will load here; None where it loads none. Raises `FlavorError` where that is missing.

    The dynamic linker answers, so that LD_LIBRARY_PATH and what the program has built in count as they will. What it does not find is this
    environment's MPI, which the launch names to it: a program that was linked without an MPI, as Fortran's are, names no folder of one.
    """
    if not is_compiled(program):
        return None
    done = ask(["ldd", str(program)])
    found = [each for each in LIBRARY.findall(done.stdout) if not A_PART.search(each[0])]
    if not found:
        return None
    name, place = found[0]
    try:
        return mpi_of(name).library if place == "not found" else Path(place)
    except MpiMissing:
        raise FlavorError(f"{program} is linked to {name}, which is not found: load the module of that MPI, or name its folder in LD_LIBRARY_PATH") from None


def is_compiled(program: Path) -> bool:
    """Whether it is a program in machine code, and no script."""
    try:
        with program.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def flavor_of_library(library: Path) -> Flavor:
    """The build for that very MPI, or what is known of an MPI without one; its ``mpiexec`` is None where none lies beside it."""
    same = [flavor for flavor in flavors().values() if flavor.mpi_library.resolve() == library.resolve()]
    if same:
        return same[0]
    version = asked_version(library)
    kind = kind_of(version)
    mpiexec = launcher_of(library, kind)
    home = mpiexec.parent.parent if mpiexec else library.parent.parent
    return Flavor(library.name, kind, home, mpiexec, library.parent, name_of(version), library.name, library.parent)


def _without_library(words: list[str], program: Path, name: str | None) -> tuple[list[str], Flavor, list[str]]:
    compiled = is_compiled(program)
    if compiled and name is None and not os.environ.get(LAUNCHER) and _mentions_mpi(program):
        raise InputError(f"{words[0]} has an MPI inside, or loads one when it runs, and which one cannot be seen: name its launcher, such as --launcher "
                         "/opt/mpi/bin/mpiexec, or a build with --flavor")  # fmt: skip
    flavor = find_flavor(name)
    asked = compiled or name or os.environ.get(LAUNCHER)
    return words, flavor, [] if asked else [f"{words[0]} is a script: it is started under the MPI of build {flavor.name}, {flavor.library_version}"]


def _mentions_mpi(program: Path) -> bool:
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"MPI_Init") >= 0


def _refuse_missing(script: Path | None) -> None:
    """Said once, where every rank would end with a traceback."""
    if script is not None and not script.exists():
        raise InputError(f"there is no {script}{'' if script.is_absolute() else f' in {Path.cwd()}'}: check the path of the program")


def _refuse_another(program: str, library: Path, flavor: Flavor) -> None:
    if library.resolve() != flavor.mpi_library.resolve():
        raise InputError(f"{program} is linked to {library}, and flavor {flavor.name} is built for {flavor.mpi_library}, whose launcher would start "
                         "ranks that are each alone: leave --flavor out, or link the program to that MPI")  # fmt: skip


def asked_version(library: Path) -> str:
    """What an MPI says that it is; why it does not load here, as on the login nodes of some machines."""
    done = ask([sys.executable, "-c", ASK, str(library)])
    return done.stdout if not done.returncode else f"it does not load: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}"

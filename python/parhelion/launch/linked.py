"""Which MPI a compiled program is linked to, and how that MPI starts ranks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .flavor import Flavor, FlavorError, flavors
from .there import KINDS_BY_WORD, MpiMissing, launcher_of, mpi_of, name_of

MPI = re.compile(r"^\s*(libmpi(?:ch|_abi|_mt|_ilp64)?\.so[.\d]*) => (not found|\S+)", re.MULTILINE)
# In a process of its own: what is loaded for a look must not stay in this one.
ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


def linked_mpi(program: Path) -> Path | None:
    """The MPI library that a compiled program will load here; None where it loads none. Raises `FlavorError` where that is missing.

    The dynamic linker answers, so that LD_LIBRARY_PATH and what the program has built in count as they will. What it does not find is this
    environment's MPI, which the launch names to it: a program that was linked without an MPI, as Fortran's are, names no folder of one.
    """
    if not is_compiled(program):
        return None
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    found = MPI.findall(done.stdout)
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
    """The build for that very MPI, or what is known of an MPI without one. Raises `FlavorError` where its ``mpiexec`` is not found."""
    same = [flavor for flavor in flavors().values() if flavor.mpi_library.resolve() == library.resolve()]
    return same[0] if same else _installed(library)


def _installed(library: Path) -> Flavor:
    version = _version(library)
    kind = next((kind for word, kind in KINDS_BY_WORD.items() if word in version), None)
    mpiexec = launcher_of(library, kind or "")
    if kind is None or mpiexec is None:
        raise FlavorError(f"the MPI of the program, {library} ({' '.join(version.split()[:3])}), has no mpiexec beside it: "
                          "start the program with the mpiexec of that MPI itself")  # fmt: skip
    return Flavor(library.name, kind, mpiexec.parent.parent, mpiexec, library.parent, name_of(version), library.name, library.parent)


def _version(library: Path) -> str:
    done = subprocess.run([sys.executable, "-c", ASK, str(library)], capture_output=True, text=True)
    if done.returncode:
        raise FlavorError(f"{library} does not load: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return done.stdout

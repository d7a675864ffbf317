"""What is installed: the variants of a build, its MPI, and the MPI that mpi4py loads."""

import json
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..launch import Build
from ..launch.mpi import MpiMissing, asked_version, mpi4py_loads, name_of
from ..launch.process import ask

Listing = dict[str, list[dict[str, str]]]


def built_variants(build: Build) -> Listing:
    """Return the variants of the build's measuring program by benchmark; empty if it does not answer."""
    try:
        return json.loads(ask([str(build.program), "--list"], build.environment(), 30).stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


def own_transports(listing: Listing) -> dict[str, str]:
    return {entry["name"]: entry.get("unavailable", "") for entries in listing.values() for entry in entries
            if entry.get("role") == "own"}


@dataclass(frozen=True)
class Mpi4py:
    """What mpi4py loads: versions of mpi4py and the MPI, and libraries; `error` if it loads none."""

    installed: str | None
    library_version: str | None = None
    libraries: tuple[str, ...] = ()
    error: str | None = None


def mpi4py_here(build: Build | None = None) -> Mpi4py:
    try:
        installed = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        return Mpi4py(None, error="mpi4py is not installed")
    try:
        loads = mpi4py_loads(build.mpi4py_environment() if build else None)
    except MpiMissing as error:
        return Mpi4py(installed, error=str(error))
    return Mpi4py(installed, loads["version"].splitlines()[0], tuple(loads["libraries"]))


def mpi4py_matches(build: Build) -> tuple[bool, str]:
    found, own = mpi4py_here(build), build.mpi_library.resolve()
    fits = [Path(library).resolve() for library in found.libraries] == [own]
    loads = f"mpi4py {found.installed} loads {', '.join(found.libraries) or 'no MPI'}"
    return fits, found.error or (loads if fits else f"{loads}, this build uses {own}")


def version_here(build: Build) -> str:
    """Return the version of the MPI installed here; a wheel's build may have been made with another."""
    return name_of(asked_version(build.mpi_library)) or build.library_version

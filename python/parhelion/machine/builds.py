"""What a build tells of itself: its contenders, whether mpi4py fits, and which channels its MPI, UCX and Open MPI's frameworks have chosen."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..launch import Flavor, FlavorError
from ..launch.mpi import asked_version, name_of
from ..launch.process import ask, run_command

Listing = dict[str, list[dict[str, str]]]


def built_contenders(flavor: Flavor) -> Listing:
    """Per benchmark, the contenders that the flavor's measuring program knows; empty when it cannot tell."""
    try:
        return json.loads(ask([str(flavor.program), "--list"], flavor.environment(), 30).stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


def own_transports(listing: Listing) -> dict[str, str]:
    """The names of the library's own contenders over all benchmarks, and why the build cannot use each ("" when it can)."""
    return {entry["name"]: entry.get("unavailable", "") for entries in listing.values() for entry in entries
            if entry.get("role") == "own"}  # fmt: skip


ASK = {"MPIR_CVAR_DEBUG_SUMMARY": "1", "I_MPI_DEBUG": "4", "UCX_LOG_LEVEL": "info", "OMPI_MCA_pml_base_verbose": "10",
       "OMPI_MCA_mtl_base_verbose": "10", "OMPI_MCA_btl_base_verbose": "10", "OMPI_MCA_bml_base_verbose": "10"}  # fmt: skip
TOLD = (
    ("UCX {0}", re.compile(r"UCX\s+INFO\s+\S* ?(self|intra-node|inter-node|\S+) cfg#\d+ tag\(([^)]*)\)")),
    ("Open MPI's {0}", re.compile(r"mca:base:select:\(\s*(\w+)\) Selected component \[(\w+)\]")),
    ("Open MPI's {0}", re.compile(r"select: component ()(\w+) selected")),
    ("Open MPI's channels", re.compile(r"bml: Using ()(\w+) btl")),
    ("libfabric's provider", re.compile(r"libfabric provider: ()(\S+)")),
    ("libfabric's provider", re.compile(r"^\s*(?:Provider|provider|provider name):?\s+()([\w;^]+)")),
    ("channel of MPICH", re.compile(r"^==== ()(UCX|OFI) netmod")),
)
TIMEOUT_S = 60.0


def providers(flavor: Flavor, ranks: int, program: list[str], bind: bool) -> dict[str, str]:
    """What `program` (a short one) says of its channels; empty where it says nothing."""
    lines: list[str] = []
    launch = flavor.launch(ranks, program[0], program[1:], bind=bind, setting=ASK)
    run_command(launch.argv, launch.env, timeout=TIMEOUT_S, on_line=lines.append, false_start=launch.false_start)
    return told(lines)


def told(lines: Iterable[str]) -> dict[str, str]:
    """Channels by name, out of what many ranks have printed; several values of one are joined."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        for name, pattern in TOLD:
            if match := pattern.search(line):
                found.setdefault(name.format(match[1] or "pml"), {})[match[2].strip()] = None
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}


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
    """The channels between two ranks; empty where the MPI does not tell."""
    try:
        return providers(flavor, 2, [str(flavor.program), *SHORTEST], bind=False)
    except (OSError, FlavorError):  # such as where no launcher is known
        return {}

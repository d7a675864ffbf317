"""Exceptions of Parhelion, and the remedies in messages, for checkouts and installed packages."""

from __future__ import annotations

import errno
import importlib.util
import os
import resource
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path



class Error(Exception):
    """Base class of Parhelion's exceptions other than ValueError and TypeError."""


class CommunicationError(Error):
    """MPI is not running, an MPI call failed, or the program uses an exchange that has failed."""


class ExchangeTimeoutError(Error, TimeoutError):
    """A neighbor did not answer within the time limit; the message names it."""


class LostPeerError(Error, ConnectionError):
    """A neighbor has ended."""


class ResourceError(Error, OSError):
    """The system refused memory, a file or a system call."""


class MpiMismatchError(Error, ImportError):
    """No build of Parhelion fits mpi4py's MPI, or the process has loaded two MPIs."""


class InputError(ValueError):
    """A file, option or build from the user is unusable; the message names the fault and the remedy. Commands exit with status 2."""


class RanksFailed(Error):
    """The ranks of a command crashed or were stopped; finished cases are kept. Commands exit with status 3."""


OK, WRONG_VALUE, BAD_INPUT, RANKS_FAILED = range(4)  # exit statuses of commands


# In the order of ErrorKind in C++, which starts at 1.
CLASSES: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    CommunicationError,
    ExchangeTimeoutError,
    LostPeerError,
    ResourceError,
)


def class_of(kind: int) -> type[Exception]:
    """Exception class of a C++ ErrorKind."""
    return CLASSES[kind - 1] if 1 <= kind <= len(CLASSES) else Error


def kind_of(error: BaseException) -> int:
    """ErrorKind of `error`."""
    for kind, known in enumerate(CLASSES, start=1):
        if isinstance(error, known):
            return kind
    return CLASSES.index(ResourceError) + 1



@contextmanager
def writing(path: str | os.PathLike) -> Iterator[None]:
    """Name `path` in an OSError raised inside: the system names the file only when opening fails."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, why(error, path), os.fspath(path)) from None


def why(error: OSError, path: str | os.PathLike) -> str:
    """Return the system's message; for a full disk, add the free space."""
    said = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{said}{_free(Path(path))}; make room, or name a folder on another disk"
    if error.errno == errno.EFBIG:
        return f"{said}{_limit()}"
    return said


def _free(path: Path) -> str:
    for folder in (path, *path.absolute().parents):
        try:
            disk = os.statvfs(folder)
        except OSError:
            continue
        return f" ({amount(disk.f_bavail * disk.f_frsize)} of {amount(disk.f_blocks * disk.f_frsize)} free)"
    return ""


def _limit() -> str:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return "" if most == resource.RLIM_INFINITY else f" (files may have {amount(most)} here: raise it with ulimit -f)"


def amount(size: float) -> str:
    """Format bytes in the largest fitting unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


ROOT = Path(__file__).resolve().parents[2]

# Extra in pyproject.toml that installs each module.
EXTRAS = {
    "msgspec": "bench", "rich": "bench", "scipy": "bench", "uncertainties": "bench",
    "matplotlib": "report",
    "h5py": "mesh", "meshio": "mesh", "netCDF4": "mesh", "pymetis": "mesh",
    "duckdb": "query", "ruptures": "query",
    "netgen": "demo",
}
# Modules whose package has another name.
PACKAGES = {"netgen": "netgen-mesher", "yaml": "pyyaml", "PIL": "pillow"}
# Extras that cover all needs of a command, so that one installation suffices.
EXTRAS_OF_COMMANDS = {"demo": "demo", "report": "report", "partition": "mesh"}


def need(*modules: str) -> None:
    """Raise ModuleNotFoundError now rather than after minutes of work."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def what_is_missing(error: ModuleNotFoundError, command: str | None = None) -> str | None:
    """The missing package and the install command for all needs of `command`; None for Parhelion's own modules."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "parhelion"):
        return None
    package, extra = PACKAGES.get(module, module), EXTRAS.get(module, "")
    wanted = install_extra(extra and EXTRAS_OF_COMMANDS.get(command or "", extra), package)
    return f"this needs the Python package {package}, which is not installed: {wanted}"


def in_checkout() -> bool:
    """Whether this package lies in a source checkout."""
    return (ROOT / "Makefile").is_file() and (ROOT / "CMakeLists.txt").is_file()


def build_for(mpi: str, *, again: bool = False, bench: bool = False) -> str:
    """How to get a build for `mpi`: a name that make knows, a prefix, or a placeholder."""
    if in_checkout():
        return f"run `make build MPI={mpi}`{' again' if again else ''}"
    option = " -C cmake.define.PARHELION_BUILD_BENCH=ON" if bench else ""
    return (f"build it from SOURCE, the folder or file of its source, with that MPI's mpicxx on PATH: {pip_install()} --force-reinstall --no-deps"
            f"{option} SOURCE")


def install_extra(extra: str, package: str) -> str:
    """Command that installs `package`, with its extra."""
    if extra and in_checkout():
        return f"{pip_install()} -r {shlex.quote(str(ROOT / 'requirements' / 'run.txt'))}"
    return f"{pip_install()} {shlex.join(_brought_by(extra) or [package])}"


def _brought_by(extra: str) -> list[str]:
    """Packages of an extra: on the public index, "parhelion" is another project."""
    from importlib import metadata  # slow to import, and every rank imports this module

    try:
        requirements = metadata.requires("parhelion") or []
    except metadata.PackageNotFoundError:
        return []
    found: list[str] = []
    for requirement, _, marker in (line.partition(";") for line in requirements):
        name, _, extras = requirement.strip().partition("[")
        if marker.strip() in (f"extra == '{extra}'", f'extra == "{extra}"'):
            found += [each for part in extras.rstrip("]").split(",") for each in _brought_by(part)] if name == "parhelion" else [requirement.strip()]
    return list(dict.fromkeys(found))


def pip_install() -> str:
    """Install command for the running Python: pip on PATH may serve another one, and uv environments have no pip."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if importlib.util.find_spec("pip") else f"uv pip install --python {python}"


def remedy_of_no_mpi(extra: str) -> str:
    """How to install an MPI."""
    if in_checkout():
        return f"`make build MPI={extra}` installs one"
    return f"{install_extra(extra, extra)} brings one"


def remedy_of_no_build() -> str:
    """Remedy without a usable build: a checkout lacks a build, an installed package an MPI."""
    return build_for("mpich") if in_checkout() else remedy_of_no_mpi("mpich")

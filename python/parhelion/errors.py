"""What Parhelion raises besides ValueError and TypeError; and the remedies that messages name, right for a checkout and an installed package."""

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
    """Something that is neither a wrong value nor a wrong type; base of the others here."""


class CommunicationError(Error):
    """MPI is not running or one of its calls failed, or an exchange is used after it failed."""


class ExchangeTimeoutError(Error, TimeoutError):
    """A neighbor did not answer within the time limit; the message says which one."""


class LostPeerError(Error, ConnectionError):
    """A neighbor has ended."""


class ResourceError(Error, OSError):
    """The machine refused: memory, files, system calls."""


class MpiMismatchError(Error, ImportError):
    """Parhelion is not built for the MPI that mpi4py is bound to, or two MPIs are in this process."""


class InputError(ValueError):
    """A file, option or build that a user named cannot be used; says what, where, and the remedy. Commands end by it with status 2."""


class RanksFailed(Error):
    """The ranks of a command crashed or were stopped; finished cases are kept. Commands end by it with status 3."""


OK, WRONG_VALUE, BAD_INPUT, RANKS_FAILED = range(4)  # exit statuses of commands


# In the order of ErrorKind in C++, which counts from 1.
CLASSES: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    CommunicationError,
    ExchangeTimeoutError,
    LostPeerError,
    ResourceError,
)


def class_of(kind: int) -> type[Exception]:
    """The exception for a kind of C++ error. Local."""
    return CLASSES[kind - 1] if 1 <= kind <= len(CLASSES) else Error


def kind_of(error: BaseException) -> int:
    """The kind by which other ranks are told about `error`. Local."""
    for kind, known in enumerate(CLASSES, start=1):
        if isinstance(error, known):
            return kind
    return CLASSES.index(ResourceError) + 1



@contextmanager
def writing(path: str | os.PathLike) -> Iterator[None]:
    """What fails inside names the file: the system does so only when a file is opened, not when it is written to."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, why(error, path), os.fspath(path)) from None


def why(error: OSError, path: str | os.PathLike) -> str:
    """The system's own words, and for a full disk what is free there."""
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
    """Bytes in the largest unit that they fill."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


ROOT = Path(__file__).resolve().parents[2]

# Module: extra of pyproject.toml that installs it.
EXTRAS = {
    "msgspec": "bench", "rich": "bench", "scipy": "bench", "uncertainties": "bench",
    "matplotlib": "report",
    "h5py": "mesh", "meshio": "mesh", "netCDF4": "mesh", "pymetis": "mesh",
    "duckdb": "query", "ruptures": "query",
    "netgen": "demo",
}
# Module: package, if their names differ.
PACKAGES = {"netgen": "netgen-mesher", "yaml": "pyyaml", "PIL": "pillow"}
# Command: extra with all of its packages, so that one install suffices.
EXTRAS_OF_COMMANDS = {"demo": "demo", "report": "report", "partition": "mesh"}


def need(*modules: str) -> None:
    """Fail now where a module is missing that would be wanted after minutes of work."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def what_is_missing(error: ModuleNotFoundError, command: str | None = None) -> str | None:
    """The package that is missing and the one line that installs what `command` needs; None for a part of our own."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "parhelion"):
        return None
    package, extra = PACKAGES.get(module, module), EXTRAS.get(module, "")
    wanted = install_extra(extra and EXTRAS_OF_COMMANDS.get(command or "", extra), package)
    return f"this needs the Python package {package}, which is not installed: {wanted}"


def in_checkout() -> bool:
    """Whether this package is a checkout's own, which `make` builds."""
    return (ROOT / "Makefile").is_file() and (ROOT / "CMakeLists.txt").is_file()


def build_for(mpi: str, *, again: bool = False, bench: bool = False) -> str:
    """How to get a build for `mpi`: a name that make knows, a prefix, or words that stand for one."""
    if in_checkout():
        return f"run `make build MPI={mpi}`{' again' if again else ''}"
    option = " -C cmake.define.PARHELION_BUILD_BENCH=ON" if bench else ""
    return (f"build it from SOURCE, the folder or file of its source, with that MPI's mpicxx on PATH: {pip_install()} --force-reinstall --no-deps"
            f"{option} SOURCE")


def install_extra(extra: str, package: str) -> str:
    """The one line that brings `package`, which is in an extra."""
    if extra and in_checkout():
        return f"{pip_install()} -r {shlex.quote(str(ROOT / 'requirements' / 'run.txt'))}"
    return f"{pip_install()} {shlex.join(_brought_by(extra) or [package])}"


def _brought_by(extra: str) -> list[str]:
    """The packages of an extra, each by its own name: in the public index the name of this package is not this project's."""
    from importlib import metadata  # slow, and ranks import this module

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
    """Installs for the Python that runs here: another one's pip on PATH would install elsewhere. Environments of uv have no pip."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if importlib.util.find_spec("pip") else f"uv pip install --python {python}"


def remedy_of_no_mpi(extra: str) -> str:
    """What brings an MPI to where there is none."""
    if in_checkout():
        return f"`make build MPI={extra}` brings one"
    return f"{install_extra(extra, extra)} brings one"


def remedy_of_no_build() -> str:
    """Where no build can be used: a checkout has none yet, an installed package has those whose MPI is missing."""
    return build_for("mpich") if in_checkout() else remedy_of_no_mpi("mpich")

"""What to do about something that is missing, as it is right for how this package came here: made in a checkout, or installed."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from importlib import metadata
from pathlib import Path

OWN = "parhelion"
ROOT = Path(__file__).resolve().parents[3]


# The extra that brings a module, as pyproject.toml has it.
EXTRAS = {
    "msgspec": "bench", "rich": "bench", "scipy": "bench", "uncertainties": "bench",
    "matplotlib": "report",
    "meshio": "mesh", "netCDF4": "mesh", "pymetis": "mesh",
    "duckdb": "query", "ruptures": "query",
    "h5py": "h5", "netgen": "demo",
}  # fmt: skip
# Modules that are not called as the package is that brings them.
PACKAGES = {"netgen": "netgen-mesher", "yaml": "pyyaml", "PIL": "pillow"}
# All that such a command may need, so that one line is enough.
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
            f"{option} SOURCE")  # fmt: skip


def install_extra(extra: str, package: str) -> str:
    """The one line that brings `package`, which is in an extra."""
    if extra and in_checkout():
        return f"{pip_install()} -r {shlex.quote(str(ROOT / 'requirements' / 'run.txt'))}"
    return f"{pip_install()} {shlex.join(_brought_by(extra) or [package])}"


def _brought_by(extra: str) -> list[str]:
    """The packages of an extra, each by its own name: in the public index the name of this package is not this project's."""
    try:
        requirements = metadata.requires(OWN) or []
    except metadata.PackageNotFoundError:
        return []
    found: list[str] = []
    for requirement, _, marker in (line.partition(";") for line in requirements):
        name, _, extras = requirement.strip().partition("[")
        if marker.strip() in (f"extra == '{extra}'", f'extra == "{extra}"'):
            found += [each for part in extras.rstrip("]").split(",") for each in _brought_by(part)] if name == OWN else [requirement.strip()]
    return list(dict.fromkeys(found))


def pip_install() -> str:
    """Installs for the Python that runs here: another one's pip on PATH would install elsewhere. Environments of uv have no pip."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if importlib.util.find_spec("pip") else f"uv pip install --python {python}"

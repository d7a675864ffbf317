"""Wheels of the builds that are there, and empty environments into which they are installed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from parhelion import launch

from snippets import ROOT

SCRIPT = ROOT / "scripts" / "wheel.py"
WHOLE_MATRIX = os.environ.get("PARHELION_TEST_MATRIX") == "1"  # `make test-all`
# What would tell an environment about this checkout.
OURS = ("PYTHONPATH", "PARHELION_", "MPI4PY_", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_", "CMAKE_")


def clean_environment(venv: Path | None = None, **more: str) -> dict[str, str]:
    """As a user's shell has it, with the environment activated."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    folders = [folder for folder in kept["PATH"].split(os.pathsep) if not folder.startswith(str(ROOT))]
    return {**kept, "PATH": os.pathsep.join([*([str(venv / "bin")] if venv else []), *folders]), "OMPI_MCA_btl": "^ofi",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}


def execute(*words: str | Path, env: dict[str, str], cwd: Path | None = None, status: int = 0, limit: float = 400) -> str:
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=limit)
    assert done.returncode == status, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def packable() -> dict[str, launch.Build]:
    """Builds that are built, with their module."""
    return {name: build for name, build in launch.installed_builds().items() if list(build.directory.glob("_core*.so"))}


@functools.cache
def wheel(python: str = sys.executable) -> Path:
    """Of all builds that are built for the ABIs; packed, and for another Python compiled, by the script of `make wheel`."""
    builds = [name for name in ("mpich", "openmpi", "abi") if name in packable()]
    if not builds or not (ROOT / ".venv" / "stamps" / "wheel").exists():
        pytest.skip("skipped: nothing to pack was built by make")
    out = Path(tempfile.mkdtemp(prefix="parhelion-wheel-"))
    done = subprocess.run([sys.executable, SCRIPT, "--python", python, "--out", out, *builds], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(done.stdout.splitlines()[-1])


def new_environment(folder: Path, *packages: str | Path, python: str = sys.executable) -> Path:
    """An environment with these packages and what they need."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder] if python == sys.executable else [python, "-m", "venv", "--without-pip", folder],
                   check=True, env=clean_environment())
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet", "--disable-pip-version-check"]
    execute(*pip, *packages, env=clean_environment())
    return folder


def python_of(version: str) -> str | None:
    """A Python of this version with headers: on PATH, or among those of pyenv."""
    pyenv = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python{version}"))
    found = next(map(str, reversed(pyenv)), None) or shutil.which(f"python{version}")
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == version:
        return sys.executable
    if not found:
        return None
    ask = "import sysconfig, pathlib; print(pathlib.Path(sysconfig.get_path('include'), 'Python.h').exists())"
    headers = subprocess.run([found, "-c", ask], capture_output=True, text=True).stdout.strip()
    return found if headers == "True" else None

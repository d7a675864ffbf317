"""Conversion with the real libraries, where one is installed for the MPI of a build."""

import os
import subprocess
from pathlib import Path

import pytest
from program_runs import PROGRAMS, python_builds, run

SYSTEM_PYTHON = Path("/usr/bin/python3")  # distributions build petsc4py for their own Python and MPI
ASK = "import petsc4py.PETSc, mpi4py.MPI; print(mpi4py.MPI.Get_library_version())"
ROOT = Path(__file__).resolve().parents[3]


def installed_for(build):
    """Whether the system's Python has petsc4py on the build's MPI."""
    if not SYSTEM_PYTHON.exists():
        return False
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([SYSTEM_PYTHON, "-c", ASK], capture_output=True, text=True, timeout=60, env=environment)
    return done.returncode == 0 and build.library_version.split(",")[0] in done.stdout


def test_petsc4py_understands_what_is_converted():
    build = next(filter(installed_for, python_builds()), None)
    if build is None:
        pytest.skip("skipped: nothing is built for the MPI of an installed petsc4py (Debian: make build MPI=/usr/bin/mpicxx.openmpi)")
    done, output = run(build, 3, str(SYSTEM_PYTHON), str(PROGRAMS / "_petsc.py"),
                       PYTHONPATH=str(ROOT / "python"), PARHELION_BUILD=build.name)
    assert done.ok and "petsc4py agrees" in output, output

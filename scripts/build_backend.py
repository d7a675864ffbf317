"""Build backend of the package: scikit-build-core, plus the MPICH wheel if there is no MPI to build for.

As in cmake/ParhelionMpi.cmake, an MPI is given by MPICXX or MPICC, by MPI_HOME, or by an mpicxx on PATH that finds mpi.h (distributions may
install the wrapper without headers).
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from scikit_build_core import build
from scikit_build_core.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

PINS = Path(__file__).resolve().parent.parent / "requirements" / "mpich.txt"
NAMED_BY = ("MPICXX", "MPICC", "MPI_HOME")


def get_requires_for_build_wheel(config_settings=None):
    return [*build.get_requires_for_build_wheel(config_settings), *mpi_to_fetch()]


def get_requires_for_build_editable(config_settings=None):
    return [*build.get_requires_for_build_editable(config_settings), *mpi_to_fetch()]


def mpi_to_fetch():
    """Return the pinned MPICH wheel, or nothing if there is an MPI."""
    if any(map(os.environ.get, NAMED_BY)) or finds_its_header(shutil.which("mpicxx")):
        return []
    return re.findall(r"^mpich==.*", PINS.read_text(), re.MULTILINE)


def finds_its_header(wrapper):
    command = [wrapper, "-x", "c++", "-E", "-"]
    return wrapper is not None and subprocess.run(command, input=b"#include <mpi.h>\n", capture_output=True).returncode == 0

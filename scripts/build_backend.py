"""What pip builds the package with: scikit-build-core, and the MPICH wheel where no MPI is here to build for.

An MPI is here when MPICXX or MPICC names its compiler, MPI_HOME its prefix, or an mpicxx that finds mpi.h is on PATH: distributions have the
wrapper without the headers. cmake/ParhelionMpi.cmake looks in this order.
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
    """The pin of the MPICH wheel, or nothing where an MPI is here."""
    if any(map(os.environ.get, NAMED_BY)) or finds_its_header(shutil.which("mpicxx")):
        return []
    return re.findall(r"^mpich==.*", PINS.read_text(), re.MULTILINE)


def finds_its_header(wrapper):
    command = [wrapper, "-x", "c++", "-E", "-"]
    return wrapper is not None and subprocess.run(command, input=b"#include <mpi.h>\n", capture_output=True).returncode == 0

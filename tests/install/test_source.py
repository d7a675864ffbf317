"""Installing from source: which MPI is built for, and when MPICH's wheel is fetched for the build."""

import os
import subprocess
import sys

import pytest

from snippets import ROOT

PIN = (ROOT / "requirements" / "mpich.txt").read_text().split()[-1]
ASK = "import build_backend; print(*build_backend.mpi_to_fetch())"


def asked(path, **env):
    """What the build would fetch where PATH has only this folder."""
    pytest.importorskip("scikit_build_core", reason="skipped: scikit-build-core is not installed: make wheel")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MPI", "PATH"))}
    done = subprocess.run([sys.executable, "-c", ASK], env={**kept, "PATH": str(path), "PYTHONPATH": str(ROOT / "scripts"), **env},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def wrapper(folder, status):
    (folder / "mpicxx").write_text(f"#!/bin/sh\nexit {status}\n")
    (folder / "mpicxx").chmod(0o755)


def test_mpichs_wheel_is_fetched_where_no_mpi_is_here(tmp_path):
    assert asked(tmp_path) == PIN


def test_an_mpi_that_is_here_is_used(tmp_path):
    wrapper(tmp_path, 0)
    assert asked(tmp_path) == ""
    assert asked(tmp_path / "nowhere", MPICC="/opt/mpi/bin/mpicc") == ""


def test_a_wrapper_without_headers_is_no_mpi(tmp_path):
    wrapper(tmp_path, 1)
    assert asked(tmp_path) == PIN

"""make touches only what make itself made, and nothing at all when it is asked what it would do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILDS = "python/parhelion/_builds"
OF_THE_USER = ["build/CMakeCache.txt", "build/notes.txt", "build/debug/CMakeCache.txt", "build/debug/lib/x.so", f"{BUILDS}/own/build.json"]
OF_MAKE = ["build/mpich/mpi.cmake", "build/mpich/CMakeCache.txt", "build/libraries/made-by-make", f"{BUILDS}/mpich/made-by-make",
           f"{BUILDS}/mpich/build.json"]


@pytest.fixture
def tree(tmp_path):
    """A checkout with builds of the user's and of make's."""
    for name in ("Makefile", "CMakeLists.txt", "scripts", "requirements"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    write(tmp_path, OF_THE_USER, OF_MAKE)
    return tmp_path


def write(tree, *lists):
    for name in sum(lists, []):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x")


def make(tree, *words):
    kept = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTHON", "MPI")}
    return subprocess.run(["make", f"PYTHON={sys.executable}", *words], cwd=tree, env=kept, capture_output=True, text=True, timeout=200)


def snapshot(tree):
    """Every file with its content and time, every folder with its time."""
    return {path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None) for path in sorted(tree.rglob("*"))}


def left(tree, names):
    return [name for name in names if (tree / name).exists()]


TARGETS = ["help", "build", "demo", "test", "lint", "tidy", "licenses", "test-cpp", "test-python", "libraries", "library-ghex", "install", "clean",
           "distclean", "setup"]


@pytest.mark.parametrize("venv", ["none", "of another place", "here"])
def test_a_dry_run_changes_nothing(tree, venv):
    if venv != "none":
        write(tree, [".venv/stamps/venv", ".venv/stamps/build", ".venv/bin/python"])
        (tree / ".venv/bin/python").unlink()
        (tree / ".venv/bin/python").symlink_to(sys.executable)
        (tree / ".venv/stamps/venv").write_text(f"{tree}\n" if venv == "here" else "/elsewhere\n")
    before = snapshot(tree)
    for target in TARGETS:
        for mpi in ("mpich", "/no/such/mpi") if target == "build" else ("mpich",):
            make(tree, "-n", target, f"MPI={mpi}")
            assert snapshot(tree) == before, (target, mpi)


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.long
def test_a_new_environment_removes_what_make_built_and_no_other_build(tree, stale):
    if stale:
        write(tree, [".venv/stamps/venv", ".venv/stamps/run", ".venv/old"])
    done = make(tree, str(tree / ".venv/stamps/venv"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(tree, OF_THE_USER) == OF_THE_USER
    assert left(tree, [*OF_MAKE, "build/mpich", ".venv/old", ".venv/stamps/run"]) == []
    assert (tree / ".venv/stamps/venv").read_text() == f"{tree}\n"
    again = make(tree, str(tree / ".venv/stamps/venv"))
    assert "up to date" in again.stdout, again.stdout


def test_clean_removes_what_make_built_and_no_other_build(tree):
    write(tree, [".venv/mine"])
    assert make(tree, "distclean").returncode == 0
    assert left(tree, OF_THE_USER) == OF_THE_USER
    assert left(tree, OF_MAKE) == []
    assert (tree / ".venv/mine").exists()


def test_clean_leaves_no_empty_folders_and_needs_none(tree):
    for name in ("build", BUILDS):
        shutil.rmtree(tree / name)
    assert make(tree, "clean").returncode == 0
    write(tree, OF_MAKE, [".venv/stamps/venv"])
    assert make(tree, "distclean").returncode == 0
    assert left(tree, ["build", BUILDS, ".venv"]) == []


def test_an_environment_of_the_user_is_left_alone(tree):
    write(tree, [".venv/mine"])
    done = make(tree, str(tree / ".venv/stamps/venv"))
    assert done.returncode != 0 and "move it away" in done.stderr
    assert left(tree, [".venv/mine", *OF_MAKE]) == [".venv/mine", *OF_MAKE]


def test_a_build_of_the_same_name_that_make_did_not_begin_is_left_alone(tree):
    (tree / "build/mpich/mpi.cmake").unlink()
    rule = ["-o", "setup"]
    for stamp in ("venv", "build", "ucx", "tools", "run", "package", "mpich"):
        write(tree, [f".venv/stamps/{stamp}"])
        rule += ["-o", str(tree / ".venv/stamps" / stamp)]
    before = snapshot(tree / "build")
    done = make(tree, *rule, "build/mpich/build.ninja")
    assert done.returncode != 0 and "make did not begin" in done.stderr, done.stdout + done.stderr
    assert snapshot(tree / "build") == before


@pytest.mark.parametrize(("headers", "status"), [(True, 0), (False, 1)])
def test_an_mpi_without_headers_is_refused_before_cmake(tmp_path, headers, status):
    wrapper, cache = tmp_path / "mpicxx", tmp_path / "build" / "mpi.cmake"
    (tmp_path / "mpi.h").write_text("" if headers else "#error none")
    wrapper.write_text(f'#!/bin/sh\nexec cpp -I{tmp_path} "$@"\n')
    wrapper.chmod(0o755)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "choose_mpi.py", "cache", wrapper, cache], capture_output=True, text=True, timeout=60)
    assert done.returncode == status and cache.exists() == headers and ("finds no mpi.h" in done.stderr) != headers, done.stderr

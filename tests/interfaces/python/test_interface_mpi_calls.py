"""Which calls of MPI the library makes behind Python's back: on MPI_COMM_WORLD, and after MPI_Finalize."""

import pytest
from program_runs import PROGRAMS, python_builds, run_python

from parhelion.launch import Build

ROOT = PROGRAMS.parents[3]


def watched(build: Build, ranks: int, program: str, *args: str):
    """Runs the program with wrappers around all MPI functions (tests/mpi_calls) in front of the MPI."""
    watch = ROOT / "build" / build.name / "tests" / "mpi_calls" / "libmpi_watch.so"
    if not watch.exists():
        pytest.skip(f"the wrappers of MPI's functions are not built for {build.name}: make test-cpp MPI={build.name} builds them")
    return run_python(build, ranks, str(PROGRAMS / program), *args, LD_PRELOAD=str(watch))


BUILDS = [pytest.param(build, id=build.name) for build in python_builds() if build.name == build.kind]


@pytest.mark.parametrize("build", BUILDS)
def test_ranks_on_a_communicator_of_their_own_leave_the_others_alone(build):
    done, output = watched(build, 3, "_sub_communicator.py")
    assert done.ok and "FAILED" not in output, f"{done}\n{output}"


@pytest.mark.parametrize("how", ["at_exit", "finalized", "under_way", "combining", "combining_at_exit", "crosswise_at_exit"])
@pytest.mark.parametrize("build", BUILDS)
def test_objects_that_live_longer_than_mpi(build, how):
    done, output = watched(build, 2, "_after_mpi.py", how)
    assert done.ok and "FAILED" not in output, f"{done}\n{output}"
    assert output.count("reached the end") == 2, output

"""Every test of the programs beside this file, on ranks of every MPI that Parhelion is built for."""

import pytest
from program_runs import cases, failures, python_builds


def test_the_python_module_is_built():
    assert python_builds(), "no build has a Python module: run `make build`"


# At more than three ranks they are left to `make test-others`.
CASES = [pytest.param(*case, id="-".join(map(str, case)), marks=[pytest.mark.long] if case[2] > 3 else []) for case in cases()]


@pytest.mark.parametrize(("program", "build", "ranks", "name"), CASES)
def test_on_ranks(program, build, ranks, name):
    results, otherwise = failures(program, build, ranks)
    failure = results.get(name, otherwise)
    assert not failure, failure


# As large messages between nodes.
@pytest.mark.parametrize("build", [build.name for build in python_builds()])
def test_vectors_over_seams_in_messages_of_several_pieces(build):
    results, otherwise = failures("seams", build, 3, PARHELION_PIECE_BYTES="64")
    failure = results.get("test_components_of_vectors", otherwise)
    assert not failure, failure

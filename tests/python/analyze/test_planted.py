"""What was planted around real measurements is named by `compare`: a variable, a network, a library, a rank that sleeps."""

import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from parhelion.launch import default_build
from parhelion.cli.main import root

LATE = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    const char* rank = getenv("PMI_RANK");
    const int error = PMPI_Waitall(count, requests, statuses);
    if (rank && rank[0] == '1') usleep(300);
    return error;
}
"""
BENCH = ("bench", "halo", "--ranks", "2", "--extent", "16", "--halo", "1", "--fields", "1", "--quick", "--variants", "mpi,hand_packed")

pytestmark = pytest.mark.timeout(120)


def measure(folder, launches=4, **variables):
    """A short run of the real measuring program with these variables set."""
    if default_build().kind != "mpich":
        pytest.skip("the variables are MPICH's")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, str(value))
        result = CliRunner().invoke(root, [*BENCH, "--launches", str(launches), "--out", str(folder)], prog_name="parhelion")
    assert result.exit_code == 0, result.output
    return folder


def changes(first, second, tmp_path):
    """What `compare` says changed around two runs, by kind and name."""
    words = ["compare", str(first), str(second), "--fail-on", "never", "--json", str(tmp_path / "found.json")]
    result = CliRunner().invoke(root, words, prog_name="parhelion")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "found.json").read_text())["changes"]
    return {kind: {each["name"]: (each["first"], each["second"]) for each in facts} for kind, facts in found.items()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return measure(tmp_path_factory.mktemp("plain") / "run")


def test_another_algorithm_and_another_network_are_named(plain, tmp_path):
    second = measure(tmp_path / "b", launches=1, MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM="recursive_doubling", UCX_TLS="tcp,self")
    ranks = changes(plain, second, tmp_path)["ranks"]
    assert ranks["control variable MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"] == (None, "recursive_doubling")
    assert ranks["control variable UCX_TLS"] == (None, "tcp,self")


def test_a_library_from_elsewhere_and_a_rank_that_sleeps_in_it_are_named(plain, tmp_path):
    compiler = default_build().mpi_home / "bin" / "mpicc"
    if not compiler.exists() or not shutil.which("cc"):
        pytest.skip("no mpicc beside the embedded MPI, or no C compiler")
    (tmp_path / "late.c").write_text(LATE)
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "late.c", "-o", tmp_path / "liblate.so"], check=True)
    found = changes(plain, measure(tmp_path / "b", LD_PRELOAD=tmp_path / "liblate.so"), tmp_path)
    assert found["libraries"]["liblate"] == (None, str(tmp_path / "liblate.so"))
    assert found["behavior"]["slow ranks of hand_packed on 2 ranks"] == (None, "1")

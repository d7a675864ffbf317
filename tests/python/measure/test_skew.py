"""A rank for which the others wait is told from an exchange that is slow."""

import json
import shutil
import subprocess

import pytest
import synthetic
from click.testing import CliRunner
from measured import need_build, parhelion

from parhelion.launch import default_build
from parhelion.analyze.results import remarks, skew
from parhelion.analyze.results import results
from parhelion.cli.main import root
from parhelion.record.model import RecordError
from parhelion.record.read import read_record

LATE = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    const char* rank = getenv("PMI_RANK");
    const int error = PMPI_Waitall(count, requests, statuses);
    if (rank && rank[0] == '1') usleep(2000);
    return error;
}
"""


def measured(folder, *words, **variables):
    done = parhelion("bench", *words, "--ranks", "2", "--launches", "1", "--repetitions", "10", "--out", "run", cwd=folder, timeout=100, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    record = read_record(folder / "run")
    return {case.variant: case for case in record.cases}, done.stdout, results(record.cases)


def test_a_rank_that_sleeps_is_skew_and_the_exchange_with_all_ranks_in_it_is_not_slow(tmp_path):
    need_build()
    compiler = default_build().mpi_home / "bin" / "mpicc"
    if default_build().kind != "mpich" or not compiler.exists() or not shutil.which("cc"):
        pytest.skip("skipped: the rank's variable is MPICH's, or there is no compiler")
    (tmp_path / "late.c").write_text(LATE)
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "late.c", "-o", tmp_path / "liblate.so"], check=True)
    what = ("halo", "--extent", "16", "--halo", "1", "--fields", "1", "--variants", "hand_packed,staged_shared")
    lines, said, found = measured(tmp_path, *what, LD_PRELOAD=str(tmp_path / "liblate.so"))
    late, right = (skew(found[0].entries[name]) for name in ("hand_packed", "staged_shared"))
    assert late.apart > 1e-3 and late.rank == 1 and late.share >= 0.75 and late.matters
    assert late.together < 0.5 * late.apart, "the sleep is not the exchange's"
    assert right.apart < 1e-3, "who makes no such call does not wait"
    assert "the exchange waits for rank 1" in " ".join(said.split())
    assert all(len(line.skew_s) == len(line.last_rank) == len(line.samples) for line in lines.values())


def test_rows_from_python_tell_the_same(tmp_path):
    need_build()
    lines, _, _ = measured(tmp_path, "ghosts", "--extent", "4", "--vdim", "2", "--variants", "auto,mpi4py_isend")
    for line in lines.values():
        assert len(line.skew_s) == len(line.last_rank) == len(line.samples) == 10
        assert set(line.last_rank) <= {0, 1} and all(apart <= 2 * whole + 1e-3 for apart, whole in zip(line.skew_s, line.samples, strict=True))


def record_with(folder, apart, last, samples=20, role_of="auto"):
    """A record in which ranks of one variant are apart for a share of each sample."""
    run = synthetic.write_record(folder, launches=1, ranks=4, variants=("auto", "hand_packed"), cases=synthetic.halo_cases((1,), (1,)), repetitions=samples)
    lines = [json.loads(line) for line in (run / "record.jsonl").read_text().splitlines()]
    for line in lines:
        if line.get("variant") == role_of:
            line |= {"skew_s": [apart * sample for sample in line["samples"]], "last_rank": [last(number) for number in range(samples)]}
    (run / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


@pytest.mark.parametrize(("apart", "last", "told"), [
    (0.6, lambda number: 3, True), (0.1, lambda number: 3, False), (0.6, lambda number: number % 4, False),
])
def test_what_is_said_of_ranks_that_are_apart(tmp_path, apart, last, told):
    record = read_record(record_with(tmp_path / "run", apart, last))
    cases = results(record.cases)
    words = " ".join(remarks(record, cases))
    assert ("the exchange waits for rank" in words) == ("the exchange waits for rank 3" in words) == told
    found = skew(cases[0].entries["auto"])
    assert found.apart + found.together == pytest.approx(cases[0].entries["auto"].median, rel=0.05)
    assert skew(cases[0].entries["hand_packed"]) is None


def test_a_line_whose_lists_differ_in_length_is_damaged(tmp_path):
    run = record_with(tmp_path / "run", 0.5, lambda number: 0)
    text = (run / "record.jsonl").read_text().replace('"last_rank": [0, ', '"last_rank": [', 1)
    (run / "record.jsonl").write_text(text)
    with pytest.raises(RecordError, match="skew_s, last_rank and samples differ"):
        read_record(run)


@pytest.mark.parametrize(("apart", "named"), [(0.6, True), (0.1, False)])
def test_a_comparison_names_the_rank_for_which_the_others_wait(tmp_path, apart, named):
    plain = record_with(tmp_path / "a", 0.05, lambda number: 3)
    late = record_with(tmp_path / "b", apart, lambda number: 3)
    words = ["compare", str(plain), str(late), "--fail-on", "never", "--json", str(tmp_path / "found.json")]
    assert CliRunner().invoke(root, words, prog_name="parhelion").exit_code == 0
    behavior = json.loads((tmp_path / "found.json").read_text())["changes"]["behavior"]
    told = {"name": "ranks that come late to auto on 4 ranks", "first": None, "second": "3"}
    assert (told in behavior) == named

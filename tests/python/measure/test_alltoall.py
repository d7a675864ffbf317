"""`bench alltoall`, really measured on few ranks."""

import pytest
from click.testing import CliRunner
from measured import document, need_build, parhelion, sample_counts

from parhelion.cli.main import root
from parhelion.record.read import read_record

WAYS = {"mpi_alltoall", "mpi_alltoall_init", "mpi_ialltoall", "pairwise"}


@pytest.fixture(scope="module", autouse=True)
def _built():
    need_build()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One run that several tests look at."""
    folder = tmp_path_factory.mktemp("alltoall")
    done = parhelion("bench", "alltoall", "--quick", "--ranks", "2,3", "--size", "1,1000", "--repetitions", "4",
                     "--label", "image=v1", "--label", "notes=a test", "--out", "run", "--json", "out.json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_every_way_is_measured_and_verified_at_every_size_and_rank_count(measured):
    cases = document(measured[0])["cases"]
    seen = {(case["params"]["ranks"], case["params"]["size"], case["variant"]) for case in cases}
    left_out = {each["variant"] for each in document(measured[0])["not_run"]}
    assert seen == {(ranks, size, way) for ranks in (2, 3) for size in (1, 1000) for way in WAYS - left_out}
    assert left_out <= {"mpi_alltoall_init"}
    assert all(case["verified"] and len(case["samples"]) == 4 and case["median_s"] > 0 for case in cases)


def test_the_first_call_after_mpi_init_is_kept_apart(measured):
    record = read_record(measured[0] / "run")
    for launch in record.launches:
        assert launch.mpi_init_s > 0
        assert launch.cold_alltoall["size"] == 1 and launch.cold_alltoall["verified"] is True
        assert launch.cold_alltoall["first_s"] > 0 and len(launch.cold_alltoall["later_s"]) == 9


def test_the_published_layout_is_printed_and_in_the_document(measured):
    folder, printed = measured
    assert "published layout" in printed and "a test" in printed
    rows = document(folder)["published"]
    assert [(row["ranks"], row["size"]) for row in rows] == [(ranks, size) for ranks in (2, 3) for size in (1, 1000)]
    assert all(row["image"] == "v1" and row["notes"] == "a test" and row["later_calls"].endswith(")") for row in rows)
    assert [bool(row["first_call"]) for row in rows] == [True, False] * 2


def test_the_mpi_tells_control_variables(measured):
    told = read_record(measured[0] / "run").launches[0].mpi_cvars
    assert any("alltoall" in name.lower() for name in told)


def test_a_variant_with_a_wrong_byte_fails_the_run(tmp_path):
    done = parhelion("bench", "alltoall", "--quick", "--ranks", "2", "--size", "100", "--variants", "mpi_alltoall,planted_fault",
                     "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 1 and "FAILED" in done.stdout
    verdicts = {case["variant"]: (case["verified"], case["median_s"] is None) for case in document(tmp_path)["cases"]}
    assert verdicts == {"mpi_alltoall": (True, False), "planted_fault": (False, True)}


def test_precision_takes_more_samples_until_the_limit(tmp_path):
    done = parhelion("bench", "alltoall", "--launches", "1", "--ranks", "2", "--size", "8", "--variants", "mpi_alltoall", "--precision",
                     "0.001%", "--most-repetitions", "25", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sample_counts(tmp_path) == [25]


def test_precision_that_is_easily_reached_takes_no_more(tmp_path):
    done = parhelion("bench", "alltoall", "--launches", "1", "--ranks", "1", "--size", "4M", "--variants", "mpi_alltoall", "--precision",
                     "99%", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 20 <= sample_counts(tmp_path)[0] <= 100


@pytest.mark.parametrize(("words", "message"), [
    (["--size", "0"], "from 1 to"), (["--size", "1T"], "list of sizes"), (["--precision", "7"], "between 0 and 100"),
    (["--first-size", "1,2"], "give one"), (["--ranks", "2000", "--size", "1G"], "smaller sizes"),
    (["--variants", "nobody"], "has mpi_alltoall"),
])
def test_what_cannot_be_measured_is_refused_before_anything_starts(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(root, ["bench", "alltoall", *words], prog_name="parhelion")
    assert done.exit_code == 2 and message in done.stderr
    assert not (tmp_path / "runs").exists()

"""Output of OSU Micro-Benchmarks, of IMB and of Comb becomes a run; anything else gives one message."""

import itertools
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parhelion.analyze.results import results
from parhelion.cli.main import root
from parhelion.record.model import RecordError
from parhelion.record.read import read_record
from parhelion.show.report import write_report
from parhelion.record.imported import import_files

FOREIGN = Path(__file__).parent / "foreign"
NUMBERS = itertools.count()


def imported(tmp_path, *names, ranks=None):
    """The cases of a run made of example files, as name, size and seconds."""
    record = import_files([FOREIGN / name for name in names], tmp_path / "run", {}, ranks, ["parhelion"])
    return {(case.name, case.params.get("size")): case for case in record.cases}


def parhelion(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def test_imb_tables_are_read_with_their_ranks(tmp_path):
    cases = imported(tmp_path, "imb-mpi1.txt")
    assert len(cases) == 12 + 12 + 1
    assert cases["PingPong", 1].samples == [pytest.approx(0.76e-6)]
    assert cases["Alltoall", 16].samples == [pytest.approx(1586.39e-6)] and cases["Alltoall", 16].iterations == 50
    assert cases["Barrier", None].samples == [pytest.approx(0.40e-6)]
    assert all(case.params["ranks"] == 2 and case.verified is None for case in cases.values())


def test_imb_tables_of_other_kinds_are_read(tmp_path):
    assert imported(tmp_path / "a", "imb-nbc.txt")["Ialltoall", 1].samples == [pytest.approx(3.50e-6)]
    multi = imported(tmp_path / "b", "imb-multi.txt")["Multi-PingPong", 8]
    assert multi.params == {"test": "Multi-PingPong", "size": 8, "ranks": 4, "groups": 2}
    record = import_files([FOREIGN / "imb-rma.txt"], tmp_path / "c", {}, None, [])
    assert {case.params["mode"] for case in record.cases} == {"NON-AGGREGATE", "AGGREGATE"}
    assert len(results(record.cases)) == len(record.cases)


def test_osu_tables_are_read_with_their_own_check(tmp_path):
    cases = imported(tmp_path, "osu-alltoall.txt", ranks=8)
    name = "MPI All-to-All Personalized Exchange Latency"
    assert cases[name, 1].samples == [pytest.approx(1.52e-6)] and cases[name, 1].verified is True
    assert cases[name, 4].verified is False
    assert cases[name, 1].params == {"test": name, "size": 1, "ranks": 8, "datatype": "MPI_CHAR"}


def test_a_rate_becomes_the_time_of_a_message(tmp_path):
    cases = imported(tmp_path, "osu-bw.txt", ranks=4)
    assert cases["MPI Bandwidth", 1048576].samples == [pytest.approx(100e-6)]
    rate = cases["MPI Multiple Bandwidth / Message Rate", 1]
    assert rate.samples == [pytest.approx(1 / 5.21e6)] and rate.params["ranks"] == 4 and rate.params["window"] == 64
    assert cases["MPI Non-blocking All-to-All Personalized Exchange Latency", 1].samples == [pytest.approx(5.01e-6)]
    assert cases["MPI Barrier Latency", None].samples == [pytest.approx(0.62e-6)]
    assert cases["MPI Init", None].samples == [pytest.approx(59e-3)]


def test_ranks_that_nobody_tells_are_asked_for(tmp_path):
    with pytest.raises(RecordError, match="does not state its number of ranks: give --ranks"):
        imported(tmp_path, "osu-alltoall.txt")
    assert not (tmp_path / "run").exists()
    assert imported(tmp_path, "osu-latency.txt")["MPI Latency", 0].params["ranks"] == 2
    (tmp_path / "cuda.txt").write_text("# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n1   0.50\n")
    (case,) = import_files([tmp_path / "cuda.txt"], tmp_path / "cuda", {}, None, []).cases
    assert case.params["ranks"] == 2 and case.samples == [pytest.approx(2e-6)]


def test_tables_of_other_memory_and_of_other_threads_are_cases_of_their_own(tmp_path):
    table = "# OSU MPI-ROCM Latency Test v7.5\n# Send Buffer on {0} and Receive Buffer on {1}\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1   {2}\n"
    put = "# OSU MPI_Put-CUDA Latency Test v5.9\n# Rank 0 Memory on HOST (H) and Rank 1 Memory on DEVICE (D)\n# Size          Latency (us)\n1   3.00\n"
    threads = "# OSU MPI Multi-threaded Latency Test v7.4\n# Number of Sender threads: 1 \n# Number of Receiver threads: 2\n# Size          Latency (us)\n1   4.00\n"
    (tmp_path / "rocm.txt").write_text(table.format("DEVICE (D)", "DEVICE (D)", 1) + table.format("HOST (H)", "HOST (H)", 2) + put + threads)
    cases = import_files([tmp_path / "rocm.txt"], tmp_path / "run", {}, None, []).cases
    assert len(results(cases)) == 4 and [case.params.get("buffers") for case in cases] == ["DEVICE to DEVICE", "HOST to HOST", "HOST to DEVICE", None]
    assert all(case.params["ranks"] == 2 for case in cases)
    assert (cases[3].params["number_of_sender_threads"], cases[3].params["number_of_receiver_threads"]) == ("1", "2")


# As Comb's documentation describes its summary; the figures are made up. Newer versions print sums over ranks, older ones averages.
COMB = """Comb version 0.2.0
Num cycles         25
Num vars            3
ghost_widths        1        1        1
sizes             100      100      100
divisions           2        1        2
periodic            1        1        0
Starting test memcpy seq dst Host src Host
copy_sync-3-1061208-8: num 200 avg 0.001 s min 0.001 s max 0.002 s
Starting test Comm mpi Mesh seq Host Buffers seq Host seq Host
pre-comm:   num 100 {0} s min 0.1 s max 0.9 s
post-recv:  num 100 {1} s min 0.000001000 s max 0.000004000 s
post-send:  num 100 {2} s min 0.000020000 s max 0.000090000 s
wait-recv:  num 100 {3} s min 0.000020000 s max 0.000090000 s
wait-send:  num 100 {4} s min 0.000000500 s max 0.000003000 s
bench-comm: num 4 avg 0.1 s min 0.1 s max 0.1 s
"""
MEANS = (1e-3, 2e-6, 40e-6, 30e-6, 1e-6)


@pytest.mark.parametrize("kind", ["avg", "sum"])
def test_tests_of_comb_become_cases_with_its_phases(tmp_path, kind):
    file = tmp_path / "Comb_00_summary"
    file.write_text(COMB.format(*(f"{kind} {mean * (100 if kind == 'sum' else 1):.9f}" for mean in MEANS)))
    record = import_files([file, file], tmp_path / "run", {}, None, [])
    copies, case = record.cases[:2]
    assert "no phase of an exchange" in copies.skipped and case.variant == "Comm mpi Mesh seq Host Buffers seq Host seq Host"
    assert case.params == {"fields": 3, "halo": 1, "cells": [100, 100, 100], "grid": [2, 1, 2], "ranks": 4, "periodic": [1, 1, 0]}
    assert case.phases_s == {name: [pytest.approx(mean)] for name, mean in zip(("post_recv", "post_send", "wait_recv", "wait_send"), MEANS[1:])}
    assert case.samples == [pytest.approx(73e-6)] and "bench-comm" in case.explain
    shown = parhelion("runs", "show", tmp_path / "run").output
    assert "post-recv" in shown and "73.0" in shown and "wait-send" in shown and "periodic yes,yes,no" in shown


def test_an_older_summary_of_comb_is_read(tmp_path):
    file = tmp_path / "Comb_00_summary"
    text = COMB.replace("ghost_widths        1        1        1", "ghost_width 1").replace("Starting test Comm mpi Mesh", "Starting test Mesh")
    file.write_bytes(b"\xef\xbb\xbf" + text.format(*(f"avg {mean:.9f}" for mean in MEANS)).encode())
    case = import_files([file], tmp_path / "run", {}, None, []).cases[1]
    assert case.params["halo"] == 1 and case.variant == "Mesh seq Host Buffers seq Host seq Host"


@pytest.mark.parametrize("first", ["Started rank 0 of 4", "Started 4 ranks"])
def test_a_summary_of_comb_without_a_version_keeps_its_grid(tmp_path, first):
    file = tmp_path / "Comb_00_summary"
    file.write_text(COMB.replace("Comb version 0.2.0", first).format(*(f"sum {100 * mean:.9f}" for mean in MEANS)))
    case = import_files([file], tmp_path / "run", {}, None, []).cases[1]
    assert (case.params["ranks"], case.params["grid"], case.params["fields"]) == (4, [2, 1, 2], 3)


@pytest.mark.parametrize(("file", "before", "after"), [
    ("osu", "1.52", "2000000000000000"), ("imb", "#processes = 2", "#processes = 99999999999999999999"), ("imb", "#processes = 2", "#processes = " + "9" * 5000),
])
def test_numbers_that_no_record_holds_leave_nothing_behind(tmp_path, file, before, after):
    text = {"osu": "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1  1.52\n", "imb": IMB}[file]
    (tmp_path / "output.txt").write_text(text.replace(before, after))
    with pytest.raises(RecordError, match="too large"):
        import_files([tmp_path / "output.txt"], tmp_path / "run", {}, None, [])
    assert not (tmp_path / "run").exists()


IMB = """# Benchmarking Alltoall
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.03         0.03
"""


def test_phases_of_unequal_ghost_widths_keep_them_all(tmp_path):
    file = tmp_path / "Comb_00_summary"
    file.write_text(COMB.replace("ghost_widths        1        1", "ghost_widths        1        2").format(*(f"avg {mean:.9f}" for mean in MEANS)))
    params = import_files([file], tmp_path / "run", {}, None, []).cases[1].params
    assert params["ghost_widths"] == [1, 2, 1] and "halo" not in params


def test_files_of_several_starts_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOREIGN / "osu-latency.txt").read_text()
    for side, factor in (("a", 1.0), ("b", 1.3)):
        for number in range(8):
            figures = [
                f"{size} {value * factor * (1 + 0.003 * ((number * 7) % 5)):.4f}" for size, value in ((0, 0.18), (1, 0.19))
            ]
            Path(f"{side}{number}.txt").write_text("\n".join([*text.splitlines()[:2], *figures]) + "\n")
        files = [f"{side}{number}.txt" for number in range(8)]
        assert parhelion("runs", "import", *files, "--out", f"runs/{side}", "--label", f"image={side}").exit_code == 0
    result = parhelion("compare", "runs/a", "runs/b")
    assert result.exit_code == 1 and "2 slower" in result.output
    assert parhelion("compare", "runs/a", "runs/a").exit_code == 0


def test_equal_figures_of_two_decimals_are_no_certainty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOREIGN / "osu-latency.txt").read_text()
    for side, value in (("a", 0.21), ("b", 0.22)):
        for number in range(2):
            Path(f"{side}{number}.txt").write_text("\n".join([*text.splitlines()[:2], f"1 {value}"]) + "\n")
        assert parhelion("runs", "import", f"{side}0.txt", f"{side}1.txt", "--out", f"runs/{side}").exit_code == 0
    result = parhelion("compare", "runs/a", "runs/b")
    assert result.exit_code == 0, result.output


def test_an_imported_run_is_a_run_like_others(tmp_path):
    record = import_files([FOREIGN / "imb-mpi1.txt"], tmp_path / "runs" / "imb", {"image": "v1"}, None, [])
    write_report([record], tmp_path / "report.html", tmp_path / "report.md")
    assert "PingPong" in (tmp_path / "report.html").read_text()
    result = parhelion("runs", "export", "--store", tmp_path / "runs", "--file", tmp_path / "out.parquet")
    assert result.exit_code == 0
    assert duckdb.sql(f"SELECT count(*) FROM '{tmp_path / 'out.parquet'}'").fetchall() == [(25,)]


def test_a_line_cut_short_at_the_end_is_left_out_and_told(tmp_path):
    text = (FOREIGN / "osu-latency.txt").read_text()
    (tmp_path / "cut.txt").write_text(text[: text.index("512.88")].rstrip())
    record = import_files([tmp_path / "cut.txt"], tmp_path / "run", {}, None, [])
    assert len(record.cases) == 2
    assert "cut short" in record.run.environment["imported"]["notes"][0]


def test_a_size_without_a_figure_is_skipped_with_its_reason(tmp_path):
    text = (
        (FOREIGN / "imb-mpi1.txt")
        .read_text()
        .replace("         1024           50         0.64      1588.91", "   4194304  out-of-mem.; needed X=    0.1 GB")
    )
    (tmp_path / "memory.txt").write_text(text)
    record = import_files([tmp_path / "memory.txt"], tmp_path / "run", {}, None, [])
    assert [case.params["size"] for case in record.cases if case.skipped] == [4194304]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not output of OSU, IMB or Comb"),
        (b"hello\n1 2 3\n", "is not output of OSU, IMB or Comb"),
        (b"\x7fELF\xff\xfe", "not a text file"),
        (b"# OSU MPI Latency Test v7.4\n", "holds no figures"),
        (b"# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1 2 3\n", "line 3: 3 columns, but the header has 2"),
        (b"# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1 -2\n", "line 3: '-2' is not a time"),
        (b"# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1 nan\n", "line 3: 'nan' is not a time"),
        (b"# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1e99 1\n", "line 3: '1e99' is not a time"),
        (b"# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1 x\n", "line 3: 'x' is not a number"),
    ],
)
def test_a_foreign_file_gives_one_message_and_makes_nothing(tmp_path, content, words):
    (tmp_path / "x.txt").write_bytes(content)
    result = parhelion("runs", "import", tmp_path / "x.txt", "--out", tmp_path / "run")
    assert result.exit_code == 2 and words in result.output and result.output.count("Error") == 1
    assert not (tmp_path / "run").exists()


def test_files_of_both_tools_are_not_mixed(tmp_path):
    with pytest.raises(RecordError, match="one tool at a time"):
        imported(tmp_path, "imb-mpi1.txt", "osu-latency.txt")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_in_a_file_ends_in_a_run_or_in_one_message(tmp_path, data):
    name = data.draw(st.sampled_from(sorted(file.name for file in FOREIGN.iterdir())))
    content = bytearray((FOREIGN / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 30))] = data.draw(
            st.one_of(st.binary(max_size=20), st.text("0123456789.e -#\n()", max_size=20).map(str.encode))
        )
    file = tmp_path / "fuzzed.txt"
    file.write_bytes(content)
    out = tmp_path / f"run-{next(NUMBERS)}"
    try:
        record = import_files([file], out, {}, 4, [])
    except RecordError as error:
        assert "fuzzed.txt" in str(error) and not out.exists()
    else:
        assert read_record(out).cases == record.cases

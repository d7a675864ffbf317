"""Where a sweep breaks, the MPI's own limits beside it, and the published layout."""

import json

import numpy as np
import pytest
import synthetic
from click import BadParameter

from parhelion.cli.options import Share, Sizes
from parhelion.analyze.results import results
from parhelion.analyze.document import bench_document
from parhelion.analyze.sweep import KNEE, NOT_MONOTONE, curves, published_rows
from parhelion.record.read import read_record
from parhelion.show import Table
from parhelion.show.results import summary

POWERS = [2**power for power in range(23)]


def sweep(folder, seconds, sizes=POWERS, launches=3, spread=0.02, seed=1, samples=10, cvars=None, variant="mpi_alltoall", **labels):
    """A record in which a call of `size` bytes takes `seconds(size)`."""
    rng = np.random.default_rng(seed)
    lines = [synthetic.run_line("alltoall", labels=labels)]
    for launch in range(launches):
        cold = {"size": sizes[0], "first_s": 1.6e-3 + launch * 1e-4, "later_s": [1e-6] * 9, "verified": True}
        lines.append({"type": "launch", "launch": launch, "ranks": 2, "mpi": {"library_version": "MPICH Version:\t5.0.2\nmore"},
                      "mpi_cvars": cvars or {}, "cold_alltoall": cold, "hosts": ["a", "a"]})
        for size in sizes:
            times = (seconds(size) * np.exp(rng.normal(0, spread, samples))).tolist()
            lines.append({"type": "case", "launch": launch, "name": f"alltoall {size} B", "params": {"ranks": 2, "size": size},
                          "variant": variant, "role": "baseline", "verified": True, "samples": times, "iterations": 1,
                          "samples_by_rank": [times, times], "setup_s": {"first": 2 * seconds(size)}})
        lines.append({"type": "end", "launch": launch, "status": "ok"})
    folder.mkdir(parents=True)
    (folder / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_record(folder)


def found(record):
    """The changes of the only curve."""
    (curve,) = curves(record, results(record.cases))
    return curve.changes


def straight(size):
    return 1e-6 + 1e-10 * size


def test_a_straight_line_has_no_knee(tmp_path):
    noisy = [found(sweep(tmp_path / str(seed), straight, seed=seed, spread=0.05)) for seed in range(20)]
    assert sum(bool(changes) for changes in noisy) <= 1


@pytest.mark.parametrize("factor", [0.6, 1.7, 3.0])
def test_another_algorithm_from_a_size_on_is_found_there(tmp_path, factor):
    record = sweep(tmp_path / "run", lambda size: straight(size) * (factor if size > 256 else 1))
    knees = [change for change in found(record) if change.kind == KNEE]
    assert [(change.below, change.above) for change in knees] == [(256, 512)]
    assert knees[0].against == pytest.approx(factor, rel=0.15)
    assert knees[0].launches == (3, 3)


def test_more_bytes_in_less_time_are_flagged(tmp_path):
    record = sweep(tmp_path / "run", lambda size: 4e-6 if size == 1024 else straight(size))
    assert [(change.below, change.above) for change in found(record) if change.kind == NOT_MONOTONE] == [(1024, 2048)]


@pytest.mark.parametrize("samples", [1, 2])
def test_a_fall_within_what_so_few_samples_tell_is_no_finding(tmp_path, samples):
    """One sample has no interval: that is not an interval of no width."""
    record = sweep(tmp_path / "run", lambda size: straight(size) * (1.15 if size == 1024 else 1.0), launches=1, samples=samples, spread=0.001)
    assert found(record) == []


def test_a_dearer_byte_from_a_size_on_is_a_knee(tmp_path):
    record = sweep(tmp_path / "run", lambda size: straight(size) + max(0, size - 65536) * 4e-10)
    knees = [change for change in found(record) if change.kind == KNEE]
    assert len(knees) == 1 and 32768 <= knees[0].below <= 262144
    below, above = knees[0].ns_per_byte
    assert above > 3 * below


def test_what_one_start_alone_shows_is_no_change(tmp_path):
    record = sweep(tmp_path / "run", straight)
    for case in record.cases:
        if case.launch == 0 and case.params["size"] > 256:
            case.samples = [20 * sample for sample in case.samples]
    assert [change for change in found(record) if change.below == 256] == []


def test_limits_of_the_mpi_stand_beside_the_change_that_they_explain(tmp_path):
    cvars = {"MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE": 256, "MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE": 32768, "MPIR_CVAR_ALLTOALL_THROTTLE": 32,
             "MPIR_CVAR_ALLTOALLV_SHORT_MSG_SIZE": 512, "btl_tcp_eager_limit": 65536, "MPIR_CVAR_IALLTOALL_X_MSG_SIZE": 256}
    record = sweep(tmp_path / "run", lambda size: straight(size) * (2 if size > 256 else 1), cvars=cvars)
    (curve,) = curves(record, results(record.cases))
    beside = {each.name: each.change for each in curve.thresholds}
    assert set(beside) == {"MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE", "MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE", "btl_tcp_eager_limit"}
    assert beside["MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE"].above == 512
    assert beside["MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE"] is None and beside["btl_tcp_eager_limit"] is None


def test_few_sizes_say_nothing_about_knees(tmp_path):
    record = sweep(tmp_path / "run", lambda size: 1e-6 * size, sizes=[1, 100, 200], cvars={"MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE": 150})
    (curve,) = curves(record, results(record.cases))
    assert curve.changes == [] and curve.thresholds == []


def test_the_published_layout_has_first_and_later_calls_by_image(tmp_path):
    record = sweep(tmp_path / "run", straight, sizes=[1, 1024], image="v0.4", network="OFI", reservation="full", notes="after the upgrade")
    rows = published_rows(record, results(record.cases))
    first = rows[0]
    assert (first.image, first.network, first.reservation, first.notes, first.size) == ("v0.4", "OFI", "full", "after the upgrade", 1)
    assert first.first_call == "1700(100)"
    assert first.later_calls.startswith(("1.0", "0.99")) and first.later_calls.endswith(")")
    assert rows[1].first_call == "" and rows[1].first_of_size.endswith("(0)")
    assert first.first_of_size


def test_one_start_gives_a_first_call_without_brackets(tmp_path):
    record = sweep(tmp_path / "run", straight, sizes=[1], launches=1)
    (row,) = published_rows(record, results(record.cases))
    assert (row.first_call, row.image, row.network) == ("1600", "MPICH 5.0.2", "default")


def test_the_document_holds_layout_changes_and_limits(tmp_path):
    cvars = {"MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE": 256}
    record = sweep(tmp_path / "run", lambda size: straight(size) * (3 if size > 256 else 1), cvars=cvars)
    document = bench_document(record)
    assert len(document["published"]) == len(POWERS)
    (curve,) = document["sweep"]
    assert curve["variant"] == "mpi_alltoall" and curve["changes"][0]["variables"] == ["MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE"]
    assert curve["limits"] == [{"name": "MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE", "bytes": 256, "seen": True}]


def test_the_published_layout_and_the_matrix_keep_the_states_of_the_cores_apart(tmp_path):
    record = sweep(tmp_path / "run", straight, sizes=[1, 1024], samples=40)
    for line in record.cases:
        line.params |= {"mpi": "mpich", "network": "default"}
        line.probe_ns = [50.0, 210.0] * 20
        line.samples = [3 * seconds if probe > 100 else seconds for seconds, probe in zip(line.samples, line.probe_ns)]
    document = bench_document(record)
    later = {(row["cores"], row["size"]): float(row["later_calls"].partition("(")[0]) for row in document["published"]}
    assert later == {(cores, size): pytest.approx(pace * straight(size) * 1e6, rel=0.05)
                     for cores, pace in (("cores near (50 ns)", 1), ("cores far (210 ns)", 3)) for size in (1, 1024)}
    tables = [block for block in summary(record) if isinstance(block, Table)]
    near, far, *layouts = tables
    assert near.title.endswith("1 of 1 combinations ran, cores near (50 ns)") and far.title.endswith("cores far (210 ns)")
    assert [float(table.rows[0][2]) for table in (near, far)] == pytest.approx([1, 3], rel=0.1)
    assert [table.title for table in layouts] == ["published layout, cores near (50 ns)", "published layout, cores far (210 ns)"]


@pytest.mark.parametrize(("text", "sizes"), [
    ("1,1000", (1, 1000)), ("64K", (65536,)), ("4MiB", (4194304,)), ("1-8", (1, 2, 4, 8)), ("3-20,1k", (4, 8, 16, 1024)),
    ("1-4M", tuple(POWERS)), ("5,5", (5,)),
])
def test_sizes_are_lists_and_ranges(text, sizes):
    assert Sizes().convert(text, None, None) == sizes


@pytest.mark.parametrize("text", ["", "0", "1.5", "x", "-1", "5G", "8-4", "1T", "1,,2"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(BadParameter):
        Sizes().convert(text, None, None)


def test_a_share_is_a_percentage_or_a_number():
    assert Share().convert("5%", None, None) == Share().convert("0.05", None, None) == 0.05
    for text in ("0", "100%", "2", "much"):
        with pytest.raises(BadParameter):
            Share().convert(text, None, None)

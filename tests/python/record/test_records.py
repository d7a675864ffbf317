"""Records: what is written is read, and what is damaged says so."""

import functools
import json
from pathlib import Path

import pytest
import synthetic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parhelion.analyze.results import results
from parhelion.analyze.document import bench_document
from parhelion.analyze.results import constant, in_order, varying
from parhelion.measure.run import Follower
from parhelion.record.model import RecordError
from parhelion.record.folder import RunFolder, find_run, relabel, stored_runs
from parhelion.record.read import read_record
from parhelion.record.folder import append_line
from parhelion.record.model import End, Labels
from parhelion.record.model import schema_text

REPOSITORY = Path(__file__).resolve().parents[3]
VARIANTS = len(synthetic.OWN) + len(synthetic.BASELINES)
CASES = 3 * len(synthetic.halo_cases()) * VARIANTS  # lines of a run of three launches


@pytest.fixture
def run(tmp_path):
    return synthetic.write_record(tmp_path / "run")


def edit(run, change):
    """Rewrite the record with `change` applied to its list of lines."""
    file = run / "record.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(change(lines)))
    return file


def case_line(run, **changes):
    """A case line of the run, changed."""
    lines = map(json.loads, (run / "record.jsonl").read_text().splitlines())
    return json.dumps(next(line for line in lines if line["type"] == "case") | changes) + "\n"


def test_a_record_is_read_from_its_folder_and_from_its_file(run):
    assert read_record(run).id == read_record(run / "record.jsonl").id == "run"


def test_every_case_and_launch_is_read(run):
    record = read_record(run)
    assert len(record.launches) == len(record.ends) == 3
    assert len(record.cases) == CASES
    assert record.planned == dict.fromkeys(range(3), CASES // 3)
    assert not record.notes


def test_records_with_the_keys_of_older_versions_are_read_alike(run):
    edit(run, lambda lines: [*lines, case_line(run, variant="ghex", role="library")])
    new = read_record(run)
    older = {'"variant":': '"contender":', '"build":': '"flavor":', '"library"': '"peer"'}
    edit(run, lambda lines: [functools.reduce(lambda line, name: line.replace(name, older[name]), older, line) for line in lines])
    edit(run, lambda lines: [json.dumps(json.loads(lines[0]) | {"labels": {"duet": "0a1b2c3d"}}) + "\n", *lines[1:]])
    old = read_record(run)
    assert old.labels["interleaved"] == "0a1b2c3d"
    assert '"variant"' not in (run / "record.jsonl").read_text() and old.cases == new.cases and old.cases[-1].role == "library"
    assert [launch.build for launch in old.launches] == [launch.build for launch in new.launches] == ["synthetic"] * 3


def test_labels_are_not_taken_for_keys_of_older_versions(run):
    labels = {"flavor": "vanilla", "contender": "x", "duet": "for two"}
    relabel(run, labels)
    assert read_record(run).labels == labels


def test_a_folder_that_may_not_be_read_hides_no_other_run(run, monkeypatch):
    (run.parent / "locked").mkdir()
    stat = Path.stat

    def denied(self, **how):
        if self.parent.name == "locked":
            raise PermissionError(13, "Permission denied")
        return stat(self, **how)

    monkeypatch.setattr(Path, "stat", denied)
    found = {each.path.name: each for each in stored_runs(run.parent)}
    assert found[run.name].record and "locked/record.jsonl" in found["locked"].error and "Permission denied" in found["locked"].error
    assert find_run(run.name, run.parent) == run


def test_a_last_line_without_its_end_is_left_out_and_noted(run):
    edit(run, lambda lines: [*lines[:5], lines[5][:40]])
    record = read_record(run)
    assert len(record.cases) == 2
    assert "cut short" in record.notes[0]


@pytest.mark.parametrize("size", [1, 17, 100, 5_000, 50_000])
def test_a_record_cut_at_any_place_after_its_first_line_holds_every_finished_case(run, size):
    file = run / "record.jsonl"
    content = file.read_bytes()
    kept = content[: content.index(b"\n") + 1 + size]
    file.write_bytes(kept)
    finished = [json.loads(line)["type"] for line in kept.split(b"\n")[:-1]]
    assert len(read_record(run).cases) == finished.count("case")


@pytest.mark.parametrize(
    "line",
    [
        "\n{broken\n",
        "[]\n",
        "\x00\x01\n",
        '{"type": "case", "launch": 0}\n',
        '{"type": "case", "launch": -1, "name": "a", "variant": "b"}\n',
        '{"type": "launch", "launch": 0, "ranks": "two"}\n',
        "[" * 100_000 + "\n",
    ],
)
def test_a_damaged_line_is_named_and_the_file_is_left_alone(run, line):
    file = edit(run, lambda lines: [*lines[:4], line, *lines[4:]])
    before = file.read_bytes()
    with pytest.raises(RecordError, match=r"record.jsonl is damaged at line [56]: .*was not changed"):
        read_record(run)
    assert file.read_bytes() == before


def test_a_line_that_a_later_launch_damages_is_named_by_its_place_in_the_file(run):
    lines = run.joinpath("record.jsonl").read_bytes().splitlines(keepends=True)
    follower = Follower(run / "record.jsonl")
    with run.joinpath("record.jsonl").open("ab") as file:
        file.write(lines[-1] + b"{damaged}\n")
    with pytest.raises(RecordError, match=f"damaged at line {len(lines) + 2}:"):
        follower.new_lines()


@pytest.mark.parametrize(
    "changes",
    [{"samples": [1e-6, 2e-6]}, {"samples": [-1.0]}, {"samples_by_rank": [[1e-6]]}, {"samples": "none"}],
)
def test_samples_that_cannot_be_are_refused(run, changes):
    edit(run, lambda lines: [*lines, case_line(run, **changes)])
    with pytest.raises(RecordError, match="damaged at line"):
        read_record(run)


def test_a_kind_of_line_that_a_later_version_adds_is_passed_over(run):
    edit(run, lambda lines: [*lines, '{"type": "weather", "sky": "clear"}\n'])
    assert len(read_record(run).cases) == CASES


def test_keys_that_a_later_version_adds_are_passed_over(run):
    edit(run, lambda lines: [*lines, case_line(run, moon="full")])
    assert len(read_record(run).cases) == CASES + 1


@pytest.mark.parametrize("content", [b"", b"hello\n", b"{}\n", b"\xff\xfe\n", b'{"type": "case"}\n', b"PK\x03\x04\n\n"])
def test_a_foreign_file_is_refused_by_name(tmp_path, content):
    file = tmp_path / "record.jsonl"
    file.write_bytes(content)
    with pytest.raises(RecordError, match="record.jsonl is not a Parhelion record"):
        read_record(file)


def test_a_record_of_another_schema_version_is_refused(run):
    edit(run, lambda lines: [lines[0].replace("record/1", "record/9"), *lines[1:]])
    with pytest.raises(RecordError, match=r"record/9.*use the version that wrote it"):
        read_record(run)


def test_a_second_first_line_is_damage(run):
    edit(run, lambda lines: [*lines, lines[0]])
    with pytest.raises(RecordError, match="a second line of type 'run'"):
        read_record(run)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_a_record_is_refused_by_name(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match=f"{name} is not a run"):
        read_record(tmp_path / name)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_done_to_the_bytes_ends_in_a_record_or_in_one_message(tmp_path, data):
    folder = tmp_path / "fuzzed"
    if not folder.exists():
        synthetic.write_record(folder, launches=1, cases=synthetic.halo_cases((1,), (1,)), repetitions=3)
        (folder / "original").write_bytes((folder / "record.jsonl").read_bytes())
    content = bytearray((folder / "original").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=30))
    (folder / "record.jsonl").write_bytes(content)
    try:
        document = bench_document(read_record(folder))
    except RecordError as error:
        assert "record.jsonl" in str(error)
    else:
        assert document["schema"] == "parhelion.bench/1"


def test_a_new_run_folder_is_a_valid_run_at_once(tmp_path):
    folder = RunFolder.create("halo", ["parhelion"], {"host": "here"}, tmp_path / "new", {"image": "v1"})
    record = read_record(folder.path)
    assert record.labels == {"image": "v1"}
    assert record.run.environment == {"host": "here"}


def test_a_folder_that_holds_a_run_is_not_taken_for_another(run):
    with pytest.raises(RecordError, match="already holds a run"):
        RunFolder.create("halo", [], {}, run)


def test_a_run_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="file/run"):
        RunFolder.create("halo", [], {}, tmp_path / "file" / "run")


def test_an_unfinished_line_is_cut_off_before_the_next_launch(run):
    file = run / "record.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"type": "ca')
    RunFolder(run).drop_unfinished_line()
    assert file.read_bytes() == whole


def test_a_later_label_wins_and_an_empty_one_goes(run):
    append_line(run / "record.jsonl", Labels({"image": "v1", "note": "first"}))
    append_line(run / "record.jsonl", Labels({"image": "v2", "note": None}))
    assert read_record(run).labels == {"image": "v2"}


def test_launches_of_a_case_are_joined(run):
    cases = results(read_record(run).cases)
    assert len(cases) == 4
    assert all(len(entry.launches) == 3 for case in cases for entry in case.entries.values())


def test_the_best_baseline_has_a_ratio_of_one(run):
    for case in results(read_record(run).cases):
        assert case.relative(case.best_baseline.variant) == 1.0
        assert case.relative("auto") == pytest.approx(1 / 1.4, rel=0.1)
        low, high = case.speed_interval("auto")
        assert low < case.speed("auto") < high


def test_a_wrong_value_takes_a_variant_out_of_the_ratios(run):
    edit(run, lambda lines: [*lines, case_line(run, verified=False)])
    case = next(case for case in results(read_record(run).cases) if any(e.failed for e in case.entries.values()))
    assert case.entries["auto"].failed and not case.entries["auto"].verified
    assert case.relative("auto") is None and case.fastest.variant != "auto"


def test_a_skipped_variant_did_not_fail(run):
    edit(run, lambda lines: [*lines, case_line(run, variant="xpmem", verified=False, samples=[], samples_by_rank=[],
                                               skipped="there is no /dev/xpmem")])
    document = bench_document(read_record(run))
    assert [(entry["variant"], entry["skipped"]) for entry in document["not_run"]] == [("xpmem", "there is no /dev/xpmem")]
    assert all(entry["verified"] for entry in document["cases"])


def test_the_document_keeps_its_contract(run):
    document = bench_document(read_record(run))
    by_case = {}
    for entry in document["cases"]:
        assert entry["role"] in ("own", "baseline", "library", "floor")
        assert entry["verified"] is True
        assert entry["ci95_s"][0] <= entry["median_s"] <= entry["ci95_s"][1]
        assert entry["cores"] in ("cores near (50 ns)", "cores far (210 ns)")
        by_case.setdefault((entry["name"], json.dumps(entry["params"], sort_keys=True)), {}).setdefault(entry["variant"], []).extend(entry["samples"])
    assert len(by_case) == 4
    head = document["headline"]
    assert (head["variant"], head["cases"]) == ("auto", 4) and 1 < head["ci95"][0] < head["best_baseline_over_time"] < head["ci95"][1]
    assert all(len(variants) == VARIANTS and all(len(samples) == 90 for samples in variants.values()) for variants in by_case.values())
    json.dumps(document, allow_nan=False)


def test_a_launch_that_ended_badly_is_told_once(run):
    append_line(run / "record.jsonl", End(2, 2))
    append_line(run / "record.jsonl", End(2, "exit status 2", "no such set"))
    failures = bench_document(read_record(run))["failures"]
    assert failures == [{"launch": 2, "status": "exit status 2", "message": "no such set"}]


def test_cases_stand_in_the_order_of_their_numbers(tmp_path):
    cases = [{"dataset": f"/sets/B{mesh}-{ranks}"} for mesh in (1, 0) for ranks in (12, 2)]
    ordered = in_order(results(read_record(synthetic.write_record(tmp_path / "run", cases=cases)).cases))
    assert [case.params["dataset"] for case in ordered] == ["/sets/B0-2", "/sets/B0-12", "/sets/B1-2", "/sets/B1-12"]


def test_parameters_that_all_cases_share_are_told_apart_from_those_that_vary(run):
    cases = results(read_record(run).cases)
    assert varying(cases) == ["halo", "fields"]
    assert constant(cases)["extent"] == "64×64×64"


def test_the_published_schema_is_the_one_that_reads():
    assert (REPOSITORY / "docs/record.schema.json").read_text() == schema_text(), "run: python -m parhelion.record.model"

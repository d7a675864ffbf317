"""`compare` and `runs` on the command line."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import synthetic
from click.testing import CliRunner

from parhelion.analyze.comparison import compare
from parhelion.analyze.comparison import read_set
from parhelion.show.compare import notes
from parhelion.cli.main import root
from parhelion.record.read import read_record
from parhelion.analyze.statistics import Interval

ENVIRONMENT = {"cpu": {"model": "Some CPU"}, "software": {"kernel": "Linux 6.1"}}


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """A store with A, another like it, and one that is 5 % slower; work happens beside it."""
    monkeypatch.chdir(tmp_path)
    common = {"launches": 8, "drift": 0.005, "variants": ("auto", "hand_packed")}
    synthetic.write_record(Path("runs/a-halo"), seed=1, environment=ENVIRONMENT, **common)
    synthetic.write_record(Path("runs/b-halo"), seed=2, environment=ENVIRONMENT, **common)
    synthetic.write_record(Path("runs/c-halo"), seed=3, scale=1.05, environment=ENVIRONMENT | {"host": "there"}, **common)
    return Path("runs")


def parhelion(*words):
    """Run the command in this process, as into a pipe."""
    result = CliRunner(env={"COLUMNS": None}).invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def edit(run, change):
    """Rewrite every line of a record."""
    file = Path(run, "record.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        change(line)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_two_runs_of_the_same_show_no_difference():
    result = parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json")
    assert result.exit_code == 0, result.output
    document = json.loads(Path("out.json").read_text())
    assert {case["verdict"] for case in document["cases"]} == {"no difference beyond the margin"}
    assert "no recorded difference" in result.output


def test_why_there_is_no_verdict_beside_an_interval_without_1_is_told_everywhere():
    result = parhelion("compare", "runs/a-halo", "runs/c-halo", "--all", "--alpha", "1e-30", "--json", "out.json", "--markdown", "out.md", "--html", "out.html")
    cases = json.loads(Path("out.json").read_text())["cases"]
    assert {case["verdict"] for case in cases} == {"not enough samples"} and min(case["ci95"][0] for case in cases) > 1
    for case in cases:
        assert case["why"] == f"p = {case['p_adjusted']:.2g}, corrected for {len(cases)} figures, is above 1e-30"
        for told in (" ".join(result.output.split()), Path("out.md").read_text(), Path("out.html").read_text()):
            assert f"not enough samples: {case['why']}" in told


def test_a_small_difference_that_does_not_count_is_told_with_the_reason():
    first, second = (read_set(Path("runs") / f"{name}-halo") for name in "ab")
    found = compare(first, second)
    small = replace(found.rows[0].difference, ratio=1.013, interval=Interval(1.001, 1.026))
    rows = [replace(found.rows[0], difference=small), *(replace(row, difference=replace(row.difference, interval=Interval(0.99, 1.01))) for row in found.rows[1:])]
    (note,) = [note for note in notes(replace(found, rows=rows)) if "1 is outside" in note]
    total = len(rows)
    assert f"in 1 of {total} timings B lies within 5% of A" in note and "from 1% on, at 3% over all timings" in note
    assert f"without any change, chance does that in {0.05 * total:.2g} of {total}" in note
    assert not any("1 is outside" in note for note in notes(replace(found, rows=rows[1:])))


def test_a_slower_run_gives_status_1_and_is_named_case_by_case():
    result = parhelion("compare", "runs/a-halo", "runs/c-halo", "--json", "out.json", "--markdown", "out.md")
    assert result.exit_code == 1
    document = json.loads(Path("out.json").read_text())
    assert {case["verdict"] for case in document["cases"]} == {"slower"}
    for case in document["cases"]:
        low, high = case["ci95"]
        assert low <= case["ratio"] <= high and case["ratio"] == pytest.approx(1.05, abs=0.03)
    assert [change["name"] for change in document["changes"]["environment"]] == ["host"]
    assert "🔴 slower" in Path("out.md").read_text() and "| host | – | there |" in Path("out.md").read_text()


@pytest.mark.parametrize(("sides", "fail_on", "status"), [("ca", "slower", 0), ("ca", "different", 1), ("ac", "never", 0)])
def test_the_user_chooses_what_fails(sides, fail_on, status):
    runs = [f"runs/{side}-halo" for side in sides]
    assert parhelion("compare", *runs, "--fail-on", fail_on).exit_code == status


def test_a_folder_of_runs_counts_as_one_side(store):
    for name in ("d", "e"):
        synthetic.write_record(store / "sides" / name, launches=2, variants=("auto", "hand_packed"))
    result = parhelion("compare", store / "sides", "runs/a-halo", "--json", "out.json")
    assert json.loads(Path("out.json").read_text())["A"]["launches"] == 4, result.output


def test_control_variables_libraries_and_messages_that_changed_are_named():
    def change(line):
        if line["type"] == "launch":
            line["cvars"] = {"MPIR_CVAR_ALLTOALL": "bruck"}
            line["libraries"] = ["/opt/other/libmpi.so.40"]
        if line["type"] == "case" and line["variant"] == "auto":
            line.update(messages=6, explain="transport staged_shared, chosen automatically; 1 messages")

    edit("runs/b-halo", change)
    parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json")
    changes = json.loads(Path("out.json").read_text())["changes"]
    assert {each["name"]: (each["first"], each["second"]) for each in changes["ranks"]} == {
        "control variable A": ("1", None), "control variable MPIR_CVAR_ALLTOALL": (None, "bruck")}
    assert [each["second"] for each in changes["libraries"]] == ["/opt/other/libmpi.so.40"]
    assert {each["name"] for each in changes["behavior"]} == {"messages of auto on halo", "choice of auto on halo"}


def test_a_value_that_became_wrong_fails_whatever_the_timings_say():
    edit("runs/b-halo", lambda line: line.update(verified=False) if line.get("variant") == "auto" else None)
    result = parhelion("compare", "runs/a-halo", "runs/b-halo", "--fail-on", "never")
    assert result.exit_code == 1 and "failed in B" in result.output


def test_what_one_side_alone_measured_is_named(store):
    synthetic.write_record(store / "f", launches=4, variants=("auto", "xpmem"))
    result = parhelion("compare", "runs/a-halo", store / "f")
    assert "only in A: hand_packed on halo" in result.output and "only in B: xpmem on halo" in result.output


@pytest.mark.parametrize("other", ["missing", "runs/g-gather", "runs/h-halo"])
def test_what_cannot_be_compared_is_refused(store, other):
    synthetic.write_record(store / "g-gather", benchmark="gather")
    synthetic.write_record(store / "h-halo", variants=("nobody",))
    result = parhelion("compare", "runs/a-halo", other)
    assert result.exit_code == 2 and "Error:" in result.output


def test_options_that_a_comparison_does_not_use_are_refused():
    result = parhelion("compare", "runs/a-halo", "runs/b-halo", "--speedscope", "x.json")
    assert result.exit_code == 2 and "--speedscope: a comparison of two runs does not use it" in " ".join(result.output.split())


def other_machine(times):
    """A change of every line as another machine would make it: probe and samples so many times as long."""
    def change(line):
        if line["type"] == "run":
            line["environment"]["host"] = "elsewhere"
        if line["type"] == "case":
            line.update(samples=[times * sample for sample in line["samples"]], samples_by_rank=[],
                        probe_ns=[50 * times] * len(line["samples"]))

    return change


@pytest.mark.parametrize("times", [1.3, 4.6])
def test_another_machine_is_compared_as_it_is_and_what_differs_is_said_first(times):
    edit("runs/a-halo", other_machine(1.0))
    edit("runs/b-halo", other_machine(times))
    edit("runs/b-halo", lambda line: line["environment"].update(host="there") if line["type"] == "run" else None)
    result = parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json", "--markdown", "out.md")
    document = json.loads(Path("out.json").read_text())
    assert {case["verdict"] for case in document["cases"]} == {"slower"}
    assert all(case["ratio"] == pytest.approx(times, rel=0.03) for case in document["cases"])
    told = {change["name"]: (change["first"], change["second"]) for change in document["machines"]}
    assert told["host"] == ("elsewhere", "there")
    assert ("probe of the cores" in told) == (times > 1.6)
    for text in (result.output, Path("out.md").read_text()):
        assert 0 <= text.index("elsewhere") < text.index("hand_packed")


def test_both_interleaved_runs_are_compared_pair_by_pair():
    """The machine's pace changes by 15 % from pair to pair, which both of a pair share."""
    def in_pairs(line):
        if line["type"] == "run":
            line["labels"] = {"interleaved": "one"}
        if line["type"] == "launch":
            line["pair"] = line["launch"]
        if line["type"] == "case":
            pace = 1 + 0.15 * (line["launch"] % 3)
            line.update(samples=[pace * sample for sample in line["samples"]], samples_by_rank=[])

    for run in ("a", "b", "c"):
        edit(f"runs/{run}-halo", in_pairs)
    for other, wanted in (("b", "no difference beyond the margin"), ("c", "slower")):
        result = parhelion("compare", "runs/a-halo", f"runs/{other}-halo", "--json", "out.json")
        cases = json.loads(Path("out.json").read_text())["cases"]
        assert {(case["verdict"], case["compared"]) for case in cases} == {(wanted, "pairs of launches")}, result.output
    edit("runs/c-halo", lambda line: line.update(labels={"interleaved": "another"}) if line["type"] == "run" else None)
    parhelion("compare", "runs/a-halo", "runs/c-halo", "--json", "out.json")
    assert {case["verdict"] for case in json.loads(Path("out.json").read_text())["cases"]} == {"not enough samples"}


def test_a_damaged_run_is_listed_with_its_fault_and_left_alone(store):
    (store / "d-halo").mkdir()
    (store / "d-halo" / "record.jsonl").write_text("hello\n")
    result = parhelion("runs", "list", "--json", "out.json")
    assert result.exit_code == 0
    listed = json.loads(Path("out.json").read_text())["runs"]
    assert [Path(run["path"]).name for run in listed] == ["a-halo", "b-halo", "c-halo", "d-halo"]
    assert "not a Parhelion record" in listed[3]["error"]
    assert (store / "d-halo" / "record.jsonl").read_text() == "hello\n"


def test_a_label_is_given_found_and_taken_away():
    assert parhelion("runs", "tag", "a-h", "image=v1", "notes=a | b", "--remove", "none").exit_code == 0
    assert read_record("runs/a-halo").labels == {"image": "v1", "notes": "a | b"}
    listed = parhelion("runs", "list", "--labeled", "image=v1", "--json", "-").stdout
    assert [Path(run["path"]).name for run in json.loads(listed)["runs"]] == ["a-halo"]
    parhelion("runs", "tag", "a-halo", "--remove", "image")
    assert read_record("runs/a-halo").labels == {"notes": "a | b"}


def test_a_run_that_still_grows_is_not_labeled(store):
    file = store / "a-halo" / "record.jsonl"
    file.write_bytes(file.read_bytes() + b'{"type": "ca')
    before = file.read_bytes()
    result = parhelion("runs", "tag", "a-halo", "image=v1")
    assert result.exit_code == 2 and file.read_bytes() == before


@pytest.mark.parametrize("name", ["halo", "nothing", ""])
def test_a_name_that_is_not_one_runs_is_refused(name):
    result = parhelion("runs", "show", name)
    assert result.exit_code == 2


def test_a_run_is_shown_again():
    result = parhelion("runs", "show", "c-halo", "--environment")
    assert "geomean" in result.output and "cpu model: Some CPU" in result.output


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_every_sample_is_exported(form):
    result = parhelion("runs", "export", "a-halo", "b-halo", "--file", f"out.{form}")
    assert result.exit_code == 0, result.output
    figures = "run, count(*), min(param_fields), max(sample)"
    rows = duckdb.sql(f"SELECT {figures} FROM 'out.{form}' GROUP BY run ORDER BY run").fetchall()
    assert rows == [(run, 8 * 4 * 2 * 30, 1, 29) for run in ("a-halo", "b-halo")]


def test_an_exported_sample_is_the_recorded_one():
    parhelion("runs", "export", "a-halo", "--file", "out.csv")
    with open("out.csv") as file:
        first = next(csv.DictReader(file))
    case = read_record("runs/a-halo").cases[0]
    assert float(first["seconds"]) == case.samples[0] and first["variant"] == case.variant


@pytest.mark.parametrize("words", [["--file", "out.xls"], ["--file", "/nowhere/out.csv"], ["nothing", "--file", "out.csv"]])
def test_an_export_that_cannot_be_made_is_refused(words):
    assert parhelion("runs", "export", *words).exit_code == 2


def test_an_empty_store_is_listed_and_exported():
    Path("empty").mkdir()
    assert "no run matches" in parhelion("runs", "list", "--store", "empty").output
    assert parhelion("runs", "export", "--store", "empty", "--file", "out.csv").exit_code == 0


@pytest.mark.parametrize(("before", "after"), [(1.2, 1.3), (1.3, 1.2)])
def test_a_rank_that_was_nearly_as_slow_before_has_not_become_slow(before, after):
    for run, factor in (("a", before), ("b", after)):
        def change(line, factor=factor):
            if line["type"] == "case":
                rest = line["samples_by_rank"][0]
                line["samples_by_rank"] = [rest, [factor * sample for sample in rest]]
                line["samples"] = line["samples_by_rank"][1]

        edit(f"runs/{run}-halo", change)
    parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json")
    assert not [each for each in json.loads(Path("out.json").read_text())["changes"]["behavior"] if each["name"].startswith("slow")]


def test_a_rank_that_became_slower_than_the_others_is_named():
    def change(line):
        if line["type"] == "case" and line["variant"] == "auto":
            line["samples_by_rank"][1] = [2 * sample for sample in line["samples_by_rank"][1]]
            line["samples"] = [max(each) for each in zip(*line["samples_by_rank"], strict=True)]

    edit("runs/b-halo", change)
    parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json")
    behavior = json.loads(Path("out.json").read_text())["changes"]["behavior"]
    assert behavior == [{"name": "slow ranks of auto on 2 ranks", "first": None, "second": "1"}]


def test_controls_that_the_mpi_tells_itself_are_compared():
    def change(line):
        if line["type"] == "launch":
            line["mpi_cvars"] = {"MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE": 512, "MPIR_CVAR_CH4_NETMOD": "ucx"}

    edit("runs/a-halo", change)
    edit("runs/b-halo", change)
    edit("runs/b-halo", lambda line: line.get("mpi_cvars", {}).update(MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE=256))
    parhelion("compare", "runs/a-halo", "runs/b-halo", "--json", "out.json")
    ranks = json.loads(Path("out.json").read_text())["changes"]["ranks"]
    assert ranks == [{"name": "MPI's own MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE", "first": "512", "second": "256"}]


def test_starts_that_failed_are_told_where_nothing_can_be_compared(store):
    run = synthetic.write_record(store / "broken", launches=0)
    with (run / "record.jsonl").open("a") as file:
        file.write(json.dumps({"type": "end", "launch": 0, "status": "exit status 45", "message": "no network"}) + "\n")
    result = parhelion("compare", "runs/a-halo", run)
    assert result.exit_code == 2 and "launch 1: exit status 45, no network" in result.output

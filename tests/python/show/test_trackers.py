"""Medians go to Bencher, OpenMetrics and Otava in the formats that these publish."""

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner

from parhelion.analyze.results import usual_state, with_case
from parhelion.show.trackers import TRACKERS
from parhelion.cli.main import root
from parhelion.record.read import read_record

# The ABNF of OpenMetrics 1.0
NAME, NUMBER = "[a-zA-Z_:][a-zA-Z0-9_:]*", r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\[n"\\])*"'
DESCRIPTOR, SAMPLE = re.compile(rf"# (TYPE {NAME} gauge|UNIT {NAME} seconds|HELP {NAME} .+)"), re.compile(rf"({NAME})(\{{{LABEL}(,{LABEL})*\}}) (?P<value>{NUMBER})")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, run in enumerate(("b", "a")):
        synthetic.write_record(Path("runs") / run, seed=seed, launches=3, variants=("auto", 'a "\\\n'))
        record = Path("runs") / run / "record.jsonl"
        record.write_text(re.sub(r'"created": ?"[^"]*"', f'"created":"2026-01-0{2 - seed}T00:00:00+00:00"', record.read_text()))


def export(*words):
    return CliRunner().invoke(root, ["runs", "export", *words])


def medians(run):
    return [entry.median for _, entry in with_case(usual_state(read_record(Path("runs") / run))[1])]


def test_bencher_gets_nanoseconds():
    assert export("a", "--file", "out.json", "--format", "bencher").exit_code == 0
    report = json.loads(Path("out.json").read_text())
    found = [each["latency"] for each in report.values()]
    assert all(set(each) <= {"value", "lower_value", "upper_value"} for each in found)  # https://bencher.dev/bmf.json
    assert all(isinstance(value, float) for each in found for value in each.values())
    assert [each["value"] for each in found] == pytest.approx([seconds * 1e9 for seconds in medians("a")])
    assert all(each["lower_value"] <= each["value"] <= each["upper_value"] for each in found)


def test_openmetrics_are_by_its_grammar():
    assert export("a", "b", "runs/a", "--file", "out.txt", "--format", "openmetrics").exit_code == 0
    *lines, end, nothing = Path("out.txt").read_text().split("\n")
    assert (end, nothing) == ("# EOF", "")
    samples = [match for line in lines if (match := SAMPLE.fullmatch(line))]
    assert len(samples) + sum(bool(DESCRIPTOR.fullmatch(line)) for line in lines) == len(lines)
    assert len({match[1] + match[2] for match in samples}) == len(samples)
    told = {re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], re.search(r'variant="((?:[^"\\]|\\.)*)"', match[2])[1]) for match in samples}
    assert told == {"auto", 'a "\\\n'}
    values = [float(match["value"]) for match in samples if match[1] == "parhelion_median_seconds"]
    assert values == medians("a") + medians("b")


def test_otava_gets_a_row_per_run_in_order_of_time_and_its_configuration():
    assert export("b", "a", "--file", "out.csv", "--format", "otava").exit_code == 0
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    test = json.loads(Path("out.yaml").read_text())["tests"]["parhelion"]
    assert [row["run"] for row in rows] == ["a", "b"] and test["file"] == "out.csv"
    assert all(metric["direction"] == -1 for metric in test["metrics"].values())  # more time is worse
    for row in rows:
        assert [float(row[metric["column"]]) for metric in test["metrics"].values()] == medians(row["run"])


JUBE = """
import csv, json, sys
from jube2.result_types.table import Table
head, *rows = csv.reader(open(sys.argv[1]), quoting=csv.QUOTE_NONE)
made = Table("result", "csv")
for name in head:
    made.add_column(name)
data = Table.TableData("result", "csv", None, False)
data.add_key_value_data(made._keys, rows, 0)
sys.stdout.write(str(data))
"""


def test_jube_gets_the_table_that_it_writes():
    assert export("a", "b", "--file", "out.csv", "--format", "jube").exit_code == 0
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["median[s]"]) for row in rows] == medians("a") + medians("b")
    assert {(row["run"], row["halo"], row["fields"], row["grid"]) for row in rows} == {(run, h, f, "2×1×1") for run in "ab" for h in "12" for f in "14"}
    assert {row["variant"] for row in rows} == {"auto", 'a "\\ '} and all(float(row["low[s]"]) <= float(row["median[s]"]) <= float(row["high[s]"]) for row in rows)
    assert all(line.count(",") == len(rows[0]) - 1 for line in Path("out.csv").read_text().splitlines())
    if shutil.which("jube"):
        command = ["/usr/bin/python3", "-c", JUBE, "out.csv"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == Path("out.csv").read_text()


def test_ramble_gets_an_experiment_per_case_with_a_context_per_variant():
    assert export("a", "b", "--file", "out.json", "--format", "ramble").exit_code == 0
    results = json.loads(Path("out.json").read_text())
    assert results["workspace_hash"] == "a b"
    for experiment in results["experiments"]:
        # What `ramble results upload` takes for its tables, and `report` and `index` for their filters
        told = {name: experiment[name] for name in ("name", "application_name", "workload_name", "RAMBLE_STATUS", "simplified_workload_namespace")}
        assert all(isinstance(value, str) for value in told.values()) and told["RAMBLE_STATUS"] == experiment["EXPERIMENT_STATUS"] == "SUCCESS"
        assert {name: int(experiment[name]) for name in ("n_nodes", "processes_per_node", "n_ranks", "n_threads")} == {
            "n_nodes": 1, "processes_per_node": 2, "n_ranks": 2, "n_threads": 1}
        assert int(experiment["RAMBLE_VARIABLES"]["repeat_index"]) == 0 and experiment["RAMBLE_VARIABLES"]["workspace_name"] in "ab"
        assert experiment["RAMBLE_VARIABLES"]["halo"] in "12" and experiment["RAMBLE_RAW_VARIABLES"] == {}
        assert all(set(merit) == {"name", "value", "units", "origin", "origin_type", "fom_type"} for context in experiment["CONTEXTS"] for merit in context["foms"])
    foms = [merit for experiment in results["experiments"] for context in experiment["CONTEXTS"] for merit in context["foms"]]
    assert [merit["value"] for merit in foms if merit["name"] == "median"] == medians("a") + medians("b")
    assert {(merit["units"], merit["fom_type"]["name"], merit["fom_type"]["better_direction"]) for merit in foms} == {("s", "TIME", "LOWER")}
    assert len({experiment["name"] for experiment in results["experiments"]}) == 8


def test_figures_of_trackers_are_those_of_the_core_state_of_most_samples():
    synthetic.write_two_states(Path("runs") / "c", near=0.75)
    assert export("c", "--file", "out.json", "--format", "bencher").exit_code == 0
    found = {name: each["latency"]["value"] for name, each in json.loads(Path("out.json").read_text()).items()}
    assert len(found) == 4 and all(value == pytest.approx(1e4 if " auto " in name else 2e4, rel=0.05) for name, value in found.items()), found


def test_copies_of_a_run_are_no_second_value_of_its_series():
    shutil.copytree(Path("runs") / "a", Path("runs") / "copy")
    result = export("a", "copy", "--file", "out.txt", "--format", "openmetrics")
    assert result.exit_code == 2 and "several of the runs have the id a," in result.output and not Path("out.txt").exists()


@pytest.mark.parametrize(("words", "why"), [
    (["a", "b", "--format", "bencher"], "holds one run, not 2"),
    (["a", "--format", "otava", "--file", "out.yaml"], "end its name in .csv"),
    *((["a", "--format", form, "--table", "runs"], "leave --table out") for form in TRACKERS),
    (["a", "--format", "ramble"], "name it so"),
    *((["a", "--format", form, "--file", "/nowhere/out.json"], "cannot write") for form in TRACKERS),
])
def test_what_a_tracker_cannot_take_is_refused(words, why):
    result = export("--file", "out.csv", *words)
    assert result.exit_code == 2 and why in " ".join(result.output.split())

"""Medians go to Bencher, OpenMetrics and Otava in the formats that these publish."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner

from parhelion.analyze.results import results, with_case
from parhelion.analyze.trackers import TRACKERS
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
    return [entry.median for _, entry in with_case(results(read_record(Path("runs") / run).cases))]


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


def test_copies_of_a_run_are_no_second_value_of_its_series():
    shutil.copytree(Path("runs") / "a", Path("runs") / "copy")
    result = export("a", "copy", "--file", "out.txt", "--format", "openmetrics")
    assert result.exit_code == 2 and "several of the runs have the id a," in result.output and not Path("out.txt").exists()


@pytest.mark.parametrize(("words", "why"), [
    (["a", "b", "--format", "bencher"], "holds one run, not 2"),
    (["a", "--format", "otava", "--file", "out.yaml"], "end its name in .csv"),
    *((["a", "--format", form, "--table", "runs"], "leave --table out") for form in TRACKERS),
    *((["a", "--format", form, "--file", "/nowhere/out.csv"], "cannot write") for form in TRACKERS),
])
def test_what_a_tracker_cannot_take_is_refused(words, why):
    result = export("--file", "out.csv", *words)
    assert result.exit_code == 2 and why in " ".join(result.output.split())

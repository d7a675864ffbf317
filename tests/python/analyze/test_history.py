"""`runs history`: planted changes are found at their run with what changed there; noise, one slow run and a drift back are not."""

import json
from pathlib import Path

import numpy as np
import pytest
import synthetic
from click.testing import CliRunner

from parhelion.analyze.results import CaseResult
from parhelion.cli.main import root
from parhelion.analyze.history import Series, change_points

VARIANTS = ("auto", "hand_packed")


def parhelion(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def write_store(folder, scales, **how):
    """A run a day, each `scale` times as slow; its revision tells the scale."""
    for day, scale in enumerate(scales, start=1):
        run = synthetic.write_record(folder / f"r{day:02}", launches=3, seed=day, scale=scale, drift=0.01, variants=VARIANTS,
                                     environment={"software": {"revision": f"at {scale}"}}, **how)
        lines = [json.loads(line) for line in (run / "record.jsonl").read_text().splitlines()]
        lines[0]["created"] = f"2026-01-{day:02}T12:00:00+00:00"
        (run / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def found(store, *words):
    result = parhelion("runs", "history", "--store", store, "--json", store / "found.json", *words)
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads((store / "found.json").read_text())


def series(values):
    """A series of medians without records: the search needs none."""
    return Series("halo", CaseResult("halo", {}), "auto", "mpich", [], list(values))


@pytest.fixture(scope="module")
def slowed(tmp_path_factory):
    """Ten runs as ever, then six that are 15 % slower."""
    return write_store(tmp_path_factory.mktemp("slowed"), [1.0] * 10 + [1.15] * 6)


def test_a_slowdown_is_found_at_its_run_with_what_changed_there(slowed):
    status, document = found(slowed)
    assert status == 1
    (turn,) = document["turns"]
    assert (turn["run"], turn["before"]) == ("r11", "r10")
    assert len(turn["changes"]) == document["figures"] == 8
    for change in turn["changes"]:
        low, high = change["ci95"]
        assert low < change["ratio"] < high and change["ratio"] == pytest.approx(1.15, rel=0.03)
        assert (change["runs_before"], change["runs_since"]) == (10, 6)
    assert turn["around"] == [{"name": "software revision", "first": "at 1.0", "second": "at 1.15"}]


def test_the_page_has_a_plot_of_every_figure_that_changed(slowed, tmp_path):
    found(slowed, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 8 and "r11" in page and "at 1.15" in page
    assert "http://" not in page and "https://" not in page


@pytest.mark.parametrize(("words", "status", "changes"), [
    (("--least", "20%"), 0, 0), (("--since", "2026-01-12"), 0, 0), (("--since", "2026-01-11"), 1, 8), (("--fail-on", "never"), 0, 8),
    (("--variants", "auto"), 1, 4), (("--where", "halo=1", "--where", "fields=4"), 1, 2), (("--benchmark", "gather"), 0, 0),
    (("--labeled", "image=x"), 0, 0),
])
def test_the_user_chooses_what_counts(slowed, words, status, changes):
    exit_code, document = found(slowed, *words)
    assert (exit_code, sum(len(turn["changes"]) for turn in document["turns"])) == (status, changes)


def test_a_slowdown_that_was_mended_gives_status_0(tmp_path):
    status, document = found(write_store(tmp_path, [1.0] * 8 + [1.3] * 6 + [1.0] * 8))
    assert status == 0 and [turn["run"] for turn in document["turns"]] == ["r15", "r09"]
    assert document["slower_at_last"] == []


@pytest.mark.parametrize("scales", [[1.0] * 16, [1.0] * 7 + [2.0] + [1.0] * 8, [1.0] * 15 + [2.0]])
def test_noise_and_a_single_slow_run_are_no_change(tmp_path, scales):
    status, document = found(write_store(tmp_path, scales))
    assert (status, document["turns"]) == (0, [])


def test_builds_against_several_mpis_are_series_of_their_own(tmp_path):
    store = write_store(tmp_path, [1.0] * 8)
    for run in sorted(store.iterdir())[::2]:
        text = Path(run, "record.jsonl").read_text().replace('"build": "synthetic"', '"build": "other"')
        Path(run, "record.jsonl").write_text(text)
    _, document = found(store)
    assert (document["figures"], document["too_few_runs"]) == (16, 16)


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_of_series_without_a_change_hardly_any_is_called_changed(noise):
    rng = np.random.default_rng(1)
    false = sum(bool(change_points([series(1e-5 * np.exp(rng.normal(0, noise, 30)))], 0.0, 0.05)) for _ in range(300))
    assert false <= 0.06 * 300


def test_a_change_of_three_standard_deviations_is_found_where_it_is():
    rng = np.random.default_rng(2)
    steps = [1e-5 * np.exp(rng.normal(0, 0.03, 30) + np.where(np.arange(30) >= 20, 0.09, 0)) for _ in range(100)]
    places = [[point.place for point in change_points([series(step)], 0.03, 0.01)] for step in steps]
    assert sum(len(each) == 1 and abs(each[0] - 20) <= 1 for each in places) >= 90


def test_a_run_that_stands_out_does_not_hide_a_change():
    values = 1e-5 * np.exp(np.random.default_rng(3).normal(0, 0.01, 20)) * np.where(np.arange(20) >= 14, 1.1, 1.0)
    values[6] *= 4
    assert [point.place for point in change_points([series(values)], 0.03, 0.01)] == [14]


def test_bad_input_is_refused(tmp_path):
    assert parhelion("runs", "history", "--store", tmp_path / "none").exit_code == 2
    assert "PARAMETER=VALUE" in parhelion("runs", "history", "--store", tmp_path, "--where", "halo").output

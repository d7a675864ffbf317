"""The model: traffic counted right, known figures recovered, published rows held out and checked."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from parhelion.placement import Machine, PlacementError, Stencil, place
from parhelion.place.traffic import Exchange, traffic
from parhelion.placement.parameters import Parameters, read_parameters, write_parameters
from parhelion.place.fit import fit
from parhelion.place.published import check_published, published_rows
from parhelion.show.placement import check_blocks
from parhelion.cli.main import root

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def placement():
    return place((6, 4, 2), Machine("node:3 numa:2 core:8"), "full", periodic=[True, False, True])


def test_bytes_that_leave_a_level_are_what_the_score_counts(placement):
    exchange = Exchange((10, 20, 30), halo=2, fields=3, bytes_per_cell=4)
    counted = traffic(placement, exchange, [True, False, True])
    stencil = Stencil.full(3).with_halo((10, 20, 30), 2, 12)
    scored = place((6, 4, 2), placement.machine, stencil, [True, False, True])
    again = traffic(scored, exchange, [True, False, True])
    assert {level: scored.scores[level].jmax_bytes for level in scored.machine.levels} == again.leaving
    assert sum(counted.messages.values()) == pytest.approx(26 * 4 / 6, rel=0.5)


def test_staged_exchanges_send_as_many_bytes_in_six_messages():
    standard = Exchange((64, 64, 64), 5, 8, 4)
    staged = Exchange((64, 64, 64), 5, 8, 4, "by_dimension")
    assert [sum(size for _, size in each.offsets()) for each in (standard, staged)] == [(74**3 - 64**3) * 32] * 2
    assert (len(standard.offsets()), len(staged.offsets())) == (26, 6)


def test_known_figures_are_found_again(placement):
    rng = np.random.default_rng(7)  # seed 7
    grids = [(6, 4, 2), (48, 1, 1), (2, 24, 1), (3, 2, 8)]
    placements = [place(grid, placement.machine, method=method) for grid in grids for method in ("", "blocked")]
    truth = Parameters("truth", {"node": 2e-6, "numa": 5e-7, "core": 5e-7}, {"node": 1e10, "numa": 3e10}, 2e10)
    traffics = [
        traffic(p, Exchange((n, n, n), h, f, 4, field_by_field=f % 2 == 0), periodic=False)
        for p in placements
        for n, h, f in rng.integers(1, 9, (10, 3)).tolist()
    ]
    found = fit("found", traffics, [truth.predict(t) for t in traffics]).parameters
    assert found.latency_s == pytest.approx(truth.latency_s, rel=1e-3)
    assert found.bandwidth == pytest.approx(truth.bandwidth, rel=1e-3)
    assert found.copy_bandwidth == pytest.approx(truth.copy_bandwidth, rel=1e-3)


def test_parameters_survive_a_file(tmp_path):
    parameters = Parameters("x", {"node": 1e-6}, {"node": 1.25e10})
    write_parameters(parameters, tmp_path / "x.json")
    assert read_parameters(tmp_path / "x.json") == parameters
    (tmp_path / "y.json").write_text("{}")
    with pytest.raises(PlacementError, match="not of the schema"):
        read_parameters(tmp_path / "y.json")


def test_held_out_rows_are_within_a_quarter_in_the_median_for_every_software():
    check = check_published()
    assert len(check.rows) == 264
    for software in check.fits:
        held = np.abs(check.held_out(software))
        assert np.median(held) < 0.25, software
        assert len(held) >= 30


def test_no_row_is_both_fitted_and_held_out():
    keys = [row.key for row in published_rows()]
    assert len(keys) == len(set(keys))


def test_the_page_and_the_table_in_the_documentation_are_what_the_command_writes(tmp_path):
    done = CliRunner().invoke(root, ["model", "published", "--csv", str(tmp_path / "model.csv")])
    assert done.exit_code == 0, done.output
    assert (DOCS / "model.csv").read_text() == (tmp_path / "model.csv").read_text()
    page = (DOCS / "model.md").read_text()
    fitted, words, off = check_blocks(check_published())
    for row in fitted.rows:  # rows that are off are in the file
        assert f"| {' | '.join(row)} |\n" in page
    assert f"\n{words.text}.\n" in page
    assert off.title in page


def test_the_model_can_be_fitted_to_a_record_and_used(tmp_path):
    lines = [
        {"type": "run", "schema": "parhelion.record/1", "run": "r", "benchmark": "halo"},
        {"type": "launch", "launch": 0, "ranks": 4, "hosts": ["a", "a", "b", "b"], "binding": [[0], [1], [0], [1]]},
    ]
    for halo in (1, 2, 4):
        params = {"grid": [2, 2], "extent": [32, 32], "halo": halo, "fields": 1, "element": "float64", "components": 1,
                  "neighbors": "full", "periodic": True}
        lines.append({"type": "case", "launch": 0, "name": f"h{halo}", "variant": "mpi", "params": params,
                      "verified": True, "samples": [1e-5 * halo] * 3})
    (tmp_path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = CliRunner().invoke(root, ["model", "fit", str(tmp_path), "--file", str(tmp_path / "fit.json")])
    assert result.exit_code == 0, result.output
    assert read_parameters(tmp_path / "fit.json").name == "mpi"
    placed = CliRunner().invoke(root, ["place", "--parameters", str(tmp_path / "fit.json"), "--grid", "4x4",
                                       "--topology", "node:4 core:4", "--extent", "32x32", "--json", "-"])
    assert placed.exit_code == 0, placed.output
    assert {"automatic", "blocked"} <= set(json.loads(placed.stdout)["predicted_s"])

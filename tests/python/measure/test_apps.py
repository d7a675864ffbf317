"""`parhelion bench apps` from its options to its document and report, on small problems."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from parhelion import launch
from parhelion.measure.measurement import BY_HAND, LIBRARIES
from parhelion.measure.programs import EXTENT, process_grid
from parhelion.analyze.document import applications, over_hand_written, share
from parhelion.analyze.results import results
from parhelion.record.model import Case as Line

built = pytest.mark.skipif(not launch.usable_builds(), reason="nothing is built: run `make build`")
with_veros = pytest.mark.skipif(find_spec("veros") is None, reason="Veros is not installed: run `make apps`")
COMPILED = ("--app", "multigrid_cg,finite_volume,poisson,shallow_water,hydrodynamics", "--extent", "8", "--mesh", "16")


def has(library):
    """Whether the build that measures has it beside its program."""
    return (launch.find_build(measuring=True).program.parent / library).exists()


def compiled_here():
    """The applications that the build has; the one in Fortran needs a compiler for it."""
    return [app for app in BY_HAND if app != "shallow_water" or has("libphl_shallow_water.so")]


def bench(folder, *words):
    command = [sys.executable, "-m", "parhelion", "bench", "apps", "--quick", "--repetitions", "2", "--out", str(folder / "run"),
               "--json", str(folder / "out.json")]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=120)
    document = json.loads((folder / "out.json").read_text() or "null") if (folder / "out.json").exists() else None
    return done, document


@built
@pytest.mark.parametrize("ranks", ["2", "4"])
def test_every_way_of_an_application_is_verified_and_its_exchange_timed(tmp_path, ranks):
    done, document = bench(tmp_path, *COMPILED, "--ranks", ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(entry["params"]["app"], entry["variant"]): entry for entry in document["cases"]}
    libraries = {library for library in LIBRARIES["poisson"] if has(f"libphl_adapter_{library}.so")}
    assert set(found) == {(app, way) for app in compiled_here() for way in ("auto", *BY_HAND[app])} | {("poisson", library) for library in libraries}
    assert ("shallow_water" in compiled_here()) != ("Fortran" in str(document["not_run"]))
    assert all(f"no libphl_adapter_{library}.so: `make libraries` builds it" in str(document["not_run"]) for library in LIBRARIES["poisson"] - libraries)
    for (app, way), entry in found.items():
        assert entry["verified"] is True and 0 < entry["exchange_s"] and (way in libraries or entry["bytes"] > 0)
        assert entry["exchange_share"] == pytest.approx(entry["exchange_s"] / entry["median_s"])
        assert 10 < found[app, "auto"]["exchange_lines"] < found[app, "hand_isend"]["exchange_lines"]
    assert "time of exchanges" in done.stdout
    command = [sys.executable, "-m", "parhelion", "report", "run"]
    report = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert report.returncode == 0, report.stdout + report.stderr
    for name in ("report.html", "report.md"):
        text = (tmp_path / name).read_text()
        assert "Time of exchanges" in text and "share of step" in text


@built
def test_a_wrong_bit_ends_in_status_1(tmp_path):
    done, document = bench(tmp_path, *COMPILED, "--ranks", "2", "--variants", "auto,planted_fault")
    assert done.returncode == 1 and "FAILED" in done.stdout
    verdicts = {(entry["params"]["app"], entry["variant"]): entry["verified"] for entry in document["cases"]}
    assert verdicts == {(app, way): way == "auto" for app in compiled_here() for way in ("auto", "planted_fault")}


@built
def test_ways_that_some_applications_lack_are_measured_where_they_are(tmp_path):
    done, document = bench(tmp_path, "--app", "hydrodynamics,finite_volume", "--extent", "4", "--mesh", "4", "--ranks", "2", "--variants",
                           "hand_isend,hand_sendrecv")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(entry["params"]["app"], entry["variant"]) for entry in document["cases"]}
    assert found == {("hydrodynamics", "hand_isend"), ("hydrodynamics", "hand_sendrecv"), ("finite_volume", "hand_isend")}


@built
@with_veros
def test_veros_has_the_same_state_with_either_exchange_and_a_fault_is_noticed(tmp_path):
    done, document = bench(tmp_path, "--app", "veros", "--ranks", "2", "--variants", "auto,hand_sendrecv,planted_fault")
    assert done.returncode == 1, done.stdout + done.stderr
    found = {entry["variant"]: entry for entry in document["cases"]}
    assert {name: entry["verified"] for name, entry in found.items()} == {"auto": True, "hand_sendrecv": True, "planted_fault": False}
    assert found["auto"]["exchange_s"] > 0 and found["auto"]["exchange_lines"] < found["hand_sendrecv"]["exchange_lines"]
    assert "wrong" in found["planted_fault"]["error"]


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--app", "pigeon"), "unknown application"), (("--mesh", "12"), "power of two"), (("--extent", "8x8"), "2 numbers"), (("--extent", "0"), "from 1"),
     (("--variants", "pigeon", "--app", "multigrid_cg"), "pigeon"), (("--app", "finite_volume", "--variants", "hand_sendrecv"), "none of them"),
     (("--app", "veros", "--ranks", "11"), "veros")],
)
@built
def test_what_cannot_be_measured_is_refused_before_anything_starts(tmp_path, words, says):
    done, _ = bench(tmp_path, *words)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert not (tmp_path / "run").exists()


def test_columns_of_veros_are_divided_evenly_or_not_at_all():
    assert process_grid(1) == (1, 1) and process_grid(2) == (1, 2) and process_grid(3) == (1, 3)
    for ranks in range(1, 64):
        grid = process_grid(ranks)
        if grid:
            assert grid[0] * grid[1] == ranks and EXTENT[0] % grid[0] == 0 == EXTENT[1] % grid[1]
    assert process_grid(11) is None


def lines(variant, role, step, exchange, setup):
    return Line(0, "app", variant, {"app": "app", "ranks": 2, "extent": [4]}, role, verified=True, samples=[step] * 9,
                exchange_s=list(exchange), exchange_lines=7, setup_s={"plan": setup, "first": 9.0})


def test_the_exchange_is_compared_with_the_best_hand_written_one_set_up_counted():
    told = [lines("auto", "own", 100e-6, [9e-6, 10e-6, 90e-6], 5e-3), lines("slow", "baseline", 90e-6, [40e-6], 0.0),
            lines("hand", "baseline", 120e-6, [28e-6], 2e-3)]
    (case,) = results(told)
    mine = share(case.entries["auto"])
    assert mine.exchange == 10e-6 and mine.of_step == pytest.approx(0.1) and mine.with_setup == pytest.approx(15e-6)
    assert over_hand_written(case, case.entries["auto"]) == pytest.approx(0.5)
    rows = {row[3]: row for row in applications([case]).rows}
    assert rows["auto"][4:] == ["100", "1.111", "10.0", "10.0%", "15.0", "0.500", "7"]
    assert np.isclose(case.relative("hand"), 120 / 90)


def test_other_benchmarks_have_no_such_table():
    assert applications(results([Line(0, "halo", "auto", {"ranks": 2}, "own", verified=True, samples=[1e-6] * 3)])) is None

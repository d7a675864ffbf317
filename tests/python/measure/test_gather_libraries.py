"""Variants of `bench gather` that come from elsewhere: coarrays, other libraries' plug-ins."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner
from rich.console import Console
from synthetic import write_dataset

from parhelion.measure.coarrays import CoarrayBuild, Coarrays, METHODS, builds_here
from parhelion.show import terminal
from parhelion.show.results import summary
from parhelion.analyze.results import results
from parhelion.cli.main import root
from parhelion.measure.measurement import Group, Measurement
from parhelion.measure.run import RunProgress
from parhelion.record.folder import RunFolder
from parhelion.record.read import read_record
from parhelion.record.model import Case

ROOT = Path(__file__).resolve().parents[3]


def tool(name):
    linked = ROOT / ".venv" / "tools" / name
    return str(linked) if linked.exists() else shutil.which(name) or pytest.skip(f"skipped: no {name}")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The coarray programs, built from source."""
    place = tmp_path_factory.mktemp("coarrays")
    options = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DPARHELION_COARRAY_DIR={place / 'builds' / 'coarray'}",
               f"-DPython_EXECUTABLE={sys.executable}"]
    configured = subprocess.run([tool("cmake"), "-S", ROOT / "bench/libraries/coarray", "-B", place / "build", *options],
                                capture_output=True, text=True, timeout=120)
    if configured.returncode:
        pytest.skip(f"skipped: no coarrays here: {configured.stderr.strip().splitlines()[0]} (Debian: apt install gfortran libcoarrays-openmpi-dev)")
    subprocess.run([tool("cmake"), "--build", place / "build", "-j2"], check=True, capture_output=True, timeout=200)
    return place / "builds"


def run(folder, dataset, ranks, builds, element="int32", components=1):
    """The coarray variants of one case, as `bench gather` runs them."""
    params = {"ranks": ranks, "dataset": str(dataset), "element": element, "components": components}
    run_folder = RunFolder.create("gather", [], {}, folder)
    run_folder.append(Case(0, f"gather {dataset.name} {element}x{components}", "auto", params, verified=True, samples=[1e-6]))
    what = Measurement("gather", [Group(ranks, [params])], repetitions=2, timeout=30)
    Coarrays(builds).run(run_folder, what, 0, what.groups[0], RunProgress(Console(quiet=True), "gather", 1))
    return results(read_record(folder).cases)[0].entries


@pytest.mark.parametrize(("ranks", "element", "components"), [(2, "int32", 1), (3, "float64", 3)])
def test_the_gather_on_coarrays_brings_every_ghost_in_every_way(built, tmp_path, monkeypatch, ranks, element, components):
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: built)
    builds = [build for build in builds_here() if build.mpi == "openmpi"] or pytest.skip("skipped: no OpenCoarrays over Open MPI (Debian: apt install libcoarrays-openmpi-dev)")
    entries = run(tmp_path / "run", write_dataset(tmp_path / f"mesh-{ranks}", ranks), ranks, builds, element, components)
    for method in METHODS:
        entry = entries[builds[0].variant(method)]
        assert entry.verified and entry.median, (method.name, entry.error, entry.skipped)
        assert len(entry.lines[0].samples_by_rank) == ranks
        assert entry.lines[0].bytes == 4 * components * (2 if element == "float64" else 1)


PROGRAM = """#!{python}
import json, sys
job = json.load(open(sys.argv[1]))
variant = job["line"]["variant"]
{act}
line = job["line"] | dict(verified=not variant.startswith("fake/put"), samples=[1e-3])
if not line["verified"]:
    line |= dict(error="12 elements were wrong after a gather", samples=[])
open(job["record"], "a").write(json.dumps(line) + "\\n")
"""


def fake_build(folder, act="pass"):
    folder.mkdir()
    program = folder / "phl-coarray-gather"
    program.write_text(PROGRAM.format(python=sys.executable, act=act))
    program.chmod(0o755)
    return CoarrayBuild("fake", "shared", folder, None, "FAKE_IMAGES")


def test_a_way_that_crashes_is_told_and_the_others_go_on(tmp_path):
    build = fake_build(tmp_path / "fake", 'if "elements-images" in variant: sys.exit("out of luck")')
    entries = run(tmp_path / "run", write_dataset(tmp_path / "mesh-2", 2), 2, [build])
    assert len(entries) == 1 + len(METHODS)
    assert "out of luck" in entries["fake/elements-images/shared"].error and entries["fake/elements-images/shared"].failed
    assert entries["fake/section-images/shared"].median == 1e-3


def test_a_program_that_crashes_always_is_left_alone_after_two_tries(tmp_path):
    entries = run(tmp_path / "run", write_dataset(tmp_path / "mesh-2", 2), 2, [fake_build(tmp_path / "fake", "sys.exit(9)")])
    assert [entry.failed for entry in entries.values()].count(True) == 2
    assert [bool(entry.skipped) for entry in entries.values()].count(True) == len(METHODS) - 2


def test_wrong_values_stand_in_the_published_table_as_wrong(tmp_path):
    run(tmp_path / "run", write_dataset(tmp_path / "mesh-2", 2), 2, [fake_build(tmp_path / "fake")])
    console = Console(record=True, width=300, quiet=False, file=open("/dev/null", "w"))
    terminal.show(console, summary(read_record(tmp_path / "run")))
    text = console.export_text()
    assert text.count("wrong ") >= 3 and "put-images" in text and "fake" in text and "0.001" in text


@pytest.fixture
def build(tmp_path, monkeypatch):
    synthetic.write_build(tmp_path / "builds" / "synthetic")
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: tmp_path / "builds")
    monkeypatch.chdir(tmp_path)


def bench(*words):
    return CliRunner().invoke(root, ["bench", "gather", *map(str, words), "--quick"], prog_name="parhelion")


def test_libraries_that_are_not_built_are_named(build, tmp_path):
    result = bench(write_dataset(tmp_path / "mesh-2", 2), "--out", "run")
    assert result.exit_code == 0, result.output
    assert "not built for synthetic" in result.output and "petsc, dolfinx, coarray" in result.output


def test_a_library_that_does_not_exist_is_refused(build, tmp_path):
    result = bench(write_dataset(tmp_path / "mesh-2", 2), "--libraries", "petsc,trilinos")
    assert result.exit_code == 2 and "dolfinx" in result.output


def test_wrong_values_of_another_library_are_no_fault_of_the_run(build, tmp_path):
    build = fake_build(tmp_path / "builds" / "coarray-fake")
    (tmp_path / "builds" / "coarray").mkdir()
    build.directory.rename(tmp_path / "builds" / "coarray" / "fake-shared")
    description = '{"name": "shared", "toolchain": "fake", "images_variable": "FAKE_IMAGES"}'
    (tmp_path / "builds" / "coarray" / "fake-shared" / "build.json").write_text(description)
    result = bench(write_dataset(tmp_path / "mesh-2", 2), "--out", "run", "--libraries", "coarray")
    assert result.exit_code == 0, result.output
    assert "12 elements were wrong" in result.output

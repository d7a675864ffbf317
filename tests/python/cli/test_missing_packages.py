"""A command whose package is not installed says the one line that installs it."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys

import pytest
import synthetic
from click.testing import CliRunner

from parhelion import errors
from parhelion.cli.main import root


REQUIRED = [
    "numpy>=1.26",
    'rich; extra == "bench"',
    'matplotlib; extra == "report"',
    'parhelion[bench]; extra == "mesh"',
    'meshio>=5; extra == "mesh"',
    "netgen-mesher>=6.2; extra == 'demo'",
    "meshio>=5; extra == 'demo'",
    "parhelion[bench,mesh]; extra == 'demo'",
]


@pytest.mark.parametrize(
    ("package", "install", "call"),
    [
        ("netgen", "'netgen-mesher>=6.2' 'meshio>=5' rich", ["demo", "--mesh-cells", "5000"]),
        ("matplotlib", "'netgen-mesher>=6.2' 'meshio>=5' rich", ["demo", "--mesh-cells", "5000"]),
        ("duckdb", "duckdb", ["runs", "export", "--file", "out.csv", "--store", "."]),
        ("matplotlib", "matplotlib", ["report", "run"]),
        ("meshio", "rich 'meshio>=5'", ["partition", "mesh.vtk", "--parts", "1"]),
    ],
)
def test_the_line_that_installs_it_is_said(package, install, call, tmp_path, monkeypatch):
    synthetic.write_build(tmp_path / "builds" / "synthetic")
    monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: tmp_path / "builds")
    monkeypatch.setattr("parhelion.errors.in_checkout", lambda: False)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: REQUIRED)
    monkeypatch.chdir(tmp_path)
    synthetic.write_record(tmp_path / "run", launches=1)
    (tmp_path / "mesh.vtk").write_text("x")
    for name in [name for name in sys.modules if name.partition(".")[0] == package or name.startswith(("parhelion.show.plots",))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    refused = CliRunner().invoke(root, call)
    assert refused.exit_code == 2, refused.exc_info
    told = " ".join(refused.output.split())
    assert f"-m pip install {install}" in told and "parhelion" not in told.partition("pip install")[2], refused.output
    assert "Every variant" not in refused.output  # `demo` says it before it measures


def test_an_environment_without_pip_is_told_of_uv(monkeypatch):
    monkeypatch.setattr(errors, "in_checkout", lambda: False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: None)
    assert errors.install_extra("report", "matplotlib") == f"uv pip install --python {sys.executable} matplotlib"


WITHOUT_RICH = "import sys; sys.modules['rich'] = None; from parhelion.cli.main import main; sys.argv[1:] = {}; main()"
FIRST, SECOND = ({"PMI_RANK": rank, "PMI_SIZE": "4", "MPI_LOCALRANKID": rank} for rank in "01")


@pytest.mark.parametrize(("words", "why"), [(["bench", "halo"], "needs the Python package rich"), (["bench", "halo", "--halo", "x"], "needs the Python package rich"),
                                            (["bench"], "needs the Python package rich"), (["bench", "halo", "--pigeon"], "")])
@pytest.mark.parametrize(("variables", "tells"), [(FIRST, True), (SECOND, False), (SECOND | {"PMI_RANK": "2", "MPI_LOCALRANKID": "0"}, True), ({}, True)])
def test_of_the_ranks_of_a_node_the_first_says_it(words, why, variables, tells):
    program = WITHOUT_RICH.format(words) if why else WITHOUT_RICH.format(words).replace("sys.modules['rich'] = None; ", "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | variables)
    assert done.returncode == 2 and done.stderr.count(why or "No such option") == tells and bool(done.stderr) == tells, done.stderr

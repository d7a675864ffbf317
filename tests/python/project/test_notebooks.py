"""Notebooks of the documentation run to their end, and what they show is what comes out of them."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "notebooks")]

import pages  # noqa: E402
import run_notebooks  # noqa: E402

NAMES = sorted(path.stem for path in run_notebooks.FOLDER.glob("*.ipynb"))
TIMED = "measuring"  # its figures are others each time


def told(notebook):
    """What each cell printed or gave, warnings left out."""
    return [[output.get("text") or output.get("data", {}).get("text/plain") for output in cell.get("outputs", ()) if output.get("name") != "stderr"]
            for cell in notebook.cells]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_gives_what_it_shows(name):
    file = run_notebooks.FOLDER / f"{name}.ipynb"
    made, shown = told(run_notebooks.run(file)), told(nbformat.read(file, as_version=4))
    assert any(shown)
    if name == TIMED:
        assert list(map(len, made)) == list(map(len, shown)) and "verified: True" in made[-1][0] and "False" not in made[-1][0]
    else:
        assert made == shown


@pytest.mark.timeout(120)
def test_a_notebook_that_fails_is_told(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "bad.ipynb")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        run_notebooks.run(tmp_path / "bad.ipynb")


def test_notebooks_are_stored_as_executed():
    for name in NAMES:
        cells = [cell for cell in nbformat.read(run_notebooks.FOLDER / f"{name}.ipynb", as_version=4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


def test_pages_show_cells_and_what_came_out():
    page = pages.notebook_page(run_notebooks.FOLDER / "first-exchange.ipynb")
    assert "<svg" in page and "exchange()" in page and "[57 50 51" in page and page.startswith("# A first exchange\n")

"""Executes the notebooks under docs/notebooks, for their outputs on the site.

Usage: run_notebooks.py [NAME]... writes what came out into them; a cell that raises ends it.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
MOST_SECONDS = 120


def run(file: Path) -> nbformat.NotebookNode:
    """The notebook with what came out of it, under this Python, whose programs come first on PATH; raises what a cell raised."""
    notebook = nbformat.read(file, as_version=4)
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(notebook, timeout=MOST_SECONDS, coalesce_streams=True, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    finally:
        os.environ["PATH"] = before
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times differ from run to run
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not _is_progress(output)]
    return notebook


def _is_progress(output: nbformat.NotebookNode) -> bool:
    """A bar of ipyparallel's, which a cell has on a slow machine alone."""
    return "%px:" in (output.get("text") or output.get("data", {}).get("text/plain", ""))


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        file = FOLDER / f"{name}.ipynb"
        nbformat.write(run(file), file)
        print(file)


if __name__ == "__main__":
    main()

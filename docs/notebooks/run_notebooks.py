"""Executes the notebooks beside it, for their outputs on the site: `run_notebooks.py [NAME]…` writes what came out into them."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
MOST_SECONDS = 120


def run(file: Path) -> nbformat.NotebookNode:
    """The notebook with what came out of it; raises what a cell raised."""
    notebook = nbformat.read(file, as_version=4)
    env = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}  # this Python's programs
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=MOST_SECONDS, coalesce_streams=True, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute(env=env)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times differ from run to run
        if "outputs" in cell:  # without ipyparallel's bars, which a cell has on a slow machine alone
            cell.outputs = [each for each in cell.outputs if "%px:" not in (each.get("text") or each.get("data", {}).get("text/plain", ""))]
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        nbformat.write(run(FOLDER / f"{name}.ipynb"), FOLDER / f"{name}.ipynb")
        print(name)

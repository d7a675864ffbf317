"""Checks for ReFrame (https://reframe-hpc.readthedocs.io): `reframe -c FOLDER -r`, where FOLDER is `folder()`."""

from pathlib import Path


def folder() -> Path:
    """Where the checks lie: `python -c "import parhelion.tools.bench.reframe as r; print(r.folder())"`."""
    return Path(__file__).with_name("reframe_checks")

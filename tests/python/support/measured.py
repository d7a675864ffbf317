"""Real measurements for tests: the builds that are there, and one run of the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parhelion.launch import BuildError, default_build, usable_builds
from parhelion.record.read import read_record

ROOT = Path(__file__).resolve().parents[3]


def built(*names):
    """The builds among `names` that can measure; all when no name is given."""
    return [name for name, build in usable_builds().items() if os.access(build.program, os.X_OK) and name in (names or usable_builds())]


def need_build():
    """Skip where nothing is built."""
    try:
        default_build()
    except BuildError as error:
        pytest.skip(f"skipped: {error}")


def parhelion(*words, cwd, timeout=60, **variables):
    """The command in a process of its own, with `PARHELION_…`, launchers' variables and the terminal's width taken away."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PARHELION_", "PMI_", "OMPI_COMM", "COLUMNS"))}
    env = kept | {"PYTHONPATH": str(ROOT / "python")} | variables
    command = [sys.executable, "-m", "parhelion", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout)


def document(folder, name="out.json"):
    """The JSON document that a run wrote."""
    return json.loads((Path(folder) / name).read_text())


def sample_counts(folder):
    """How many samples each line of that run's record has: documents keep the states of the cores apart, and leave out rare ones."""
    return [len(line.samples) for line in read_record(Path(folder) / document(folder)["record"]).cases]

"""Figures of this project's own revisions are kept where continuous integration is told to, and never fail it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def recorded(tmp_path):
    """Runs the script with a command that notes its words and ends with a status; returns its exit status and the words."""

    def run(status, store=tmp_path / "store"):
        command = tmp_path / "parhelion"
        command.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/words\nexit {status}\n')
        command.chmod(0o755)
        done = subprocess.run([ROOT / ".ci" / "history.sh", store, command], capture_output=True, text=True, timeout=60)
        words = tmp_path / "words"
        return done, words.read_text().splitlines() if words.exists() else []

    return run


def test_two_runs_are_added_and_the_history_is_told(recorded, tmp_path):
    done, words = recorded(0)
    assert done.returncode == 0 and [line.split()[:2] for line in words] == [["bench", "halo"], ["bench", "alltoall"], ["runs", "history"]]
    assert all(f"--out {tmp_path}/store/" in line for line in words[:2]) and "--fail-on never" in words[2]


def test_whatever_fails_is_told_and_fails_nothing(recorded):
    done, _ = recorded(3)
    assert done.returncode == 0 and done.stdout.count("history:") == 3


def test_a_place_that_cannot_be_had_fails_nothing(recorded, tmp_path):
    (tmp_path / "file").touch()
    done, words = recorded(0, tmp_path / "file" / "store")
    assert (done.returncode, words) == (0, [])


def test_continuous_integration_calls_it_where_it_is_told_a_place():
    last = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert last == '[ -z "${BENCHMARK_HISTORY:-}" ] || .ci/history.sh "$BENCHMARK_HISTORY" "$clone/.venv/bin/parhelion"'

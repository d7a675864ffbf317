"""Everything here runs with Python 3.11.2, which Debian 12 has."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLACES = ("python/parhelion", "scripts", "docs", "tests", "examples", "bench", "simulate")
LATER = {  # what came in a patch release of 3.11, which vermin does not tell
    r"extractall\([^)]*filter|tarfile\.(data|tar|fully_trusted)_filter": "3.11.4",
}


def violations(*places):
    done = subprocess.run([Path(sys.executable).parent / "vermin", "-t=3.11-", "--no-tips", "--violations", "--eval-annotations", *places],
                          cwd=ROOT, capture_output=True, text=True, timeout=250)
    return done.returncode, done.stdout + done.stderr


def test_nothing_needs_a_newer_python():
    status, told = violations(*PLACES)
    assert status == 0, told


@pytest.mark.parametrize("code", ["from itertools import batched", "from pathlib import Path\nPath().walk()", "from typing import override",
                                  "import tomllib\nfrom typing import TypeAliasType"])
def test_what_is_newer_would_be_found(tmp_path, code):
    (tmp_path / "newer.py").write_text(code + "\n")
    status, _ = violations(tmp_path / "newer.py")
    assert status != 0


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="skipped: this Python would take newer syntax")
def test_every_file_is_of_this_python_s_syntax():
    for path in (path for place in PLACES for path in (ROOT / place).rglob("*.py")):
        ast.parse(path.read_text(), path)


def test_nothing_needs_a_later_patch_release():
    found = [f"{path.relative_to(ROOT)}: {release}" for place in PLACES for path in (ROOT / place).rglob("*.py")
             for pattern, release in LATER.items() if path != Path(__file__) and re.search(pattern, path.read_text())]
    assert not found

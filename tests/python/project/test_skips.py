"""Every skipped test is told with its reason, and one that continuous integration does not expect fails it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CTEST = """<testsuite>
<testcase name="robustness.steady" classname="robustness.steady" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>skipped: strace is not installed (Debian: apt install strace)
</system-out></testcase>
<testcase name="robustness.large.2" classname="robustness.large.2" status="run">
<system-out>skipped: needs 9 GiB of memory,  4 are free
skipped: needs 9 GiB of memory,  4 are free
[  PASSED  ] 1 test.</system-out></testcase>
<testcase name="robustness.dumb" classname="robustness.dumb" status="notrun"><skipped message=""/></testcase>
<testcase name="unit.fine" classname="unit.fine" status="run"><system-out>ok</system-out></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite><testcase classname="tests.python.test_hosts" name="test_a">
<skipped type="pytest.skip" message="skipped: no network names">here.py:1: skipped: no network names</skipped></testcase>
<testcase classname="tests.python.test_hosts" name="test_b"/></testsuite></testsuites>"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "mpich").mkdir()
    (tmp_path / "mpich" / "ctest.xml").write_text(CTEST)
    (tmp_path / "mpich" / "pytest.xml").write_text(PYTEST)
    return [tmp_path / "mpich" / "ctest.xml", tmp_path / "mpich" / "pytest.xml", tmp_path / "none" / "ctest.xml"]


def skips(*words):
    done = subprocess.run([sys.executable, ROOT / "tests" / "skips.py", *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_each_skip_is_listed_once_with_its_reason(files):
    status, told = skips(*files)
    assert status == 0
    assert "mpich ctest: robustness.steady: strace is not installed (Debian: apt install strace)" in told
    assert told.count("needs 9 GiB of memory, 4 are free") == 1
    assert "mpich pytest: tests.python.test_hosts.test_a: no network names" in told
    assert "robustness.dumb: no reason given" in told
    assert told.endswith("\n=== More tests run with: apt install strace\n")
    assert "unit.fine" not in told and "test_b" not in told and "SKIP_RETURN" not in told


def test_a_python_test_that_another_run_did_not_skip_was_not_skipped(files, tmp_path):
    again = tmp_path / "openmpi" / "pytest.xml"
    again.parent.mkdir()
    again.write_text('<testsuite><testcase classname="tests.python.test_hosts" name="test_a"/></testsuite>')
    (tmp_path / "openmpi" / "ctest.xml").write_text(CTEST.replace("strace", "spin"))
    told = skips(*files, again, tmp_path / "openmpi" / "ctest.xml")[1]
    assert "no network names" not in told
    assert "strace is not installed" in told and "spin is not installed" in told


@pytest.mark.parametrize(("lines", "status", "unexpected"), [
    ("strace\nneeds \\d+ GiB\nnetwork names\nrobustness.dumb", 0, []),
    ("# strace\nneeds \\d+ GiB\nnetwork names\nno reason given", 1, ["strace is not installed"]),
    ("", 1, ["strace is not installed", "needs 9 GiB", "no network names", "no reason given"]),
])
def test_a_skip_that_is_not_expected_fails(files, tmp_path, lines, status, unexpected):
    (tmp_path / "expected").write_text(lines + "\n")
    found, told = skips("--expected", tmp_path / "expected", *files)
    assert found == status, told
    late = told.partition("and not in")[2]
    assert all(reason in late for reason in unexpected) and late.count(": ") >= len(unexpected)


def test_what_continuous_integration_expects_is_a_list_of_expressions_with_their_reasons():
    lines = (ROOT / ".ci" / "expected-skips").read_text().splitlines()
    assert all(re.compile(line) for line in lines if line and not line.startswith("#"))
    assert not any(re.search(line, "mpich ctest: unit.x: spin is not installed") for line in lines if line and not line.startswith("#"))

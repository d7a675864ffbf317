"""What continuous integration runs, over a Makefile that only says what it was asked for; and the second run of the Python tests."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MAKEFILE = """
demo test test-others:
\t@echo "$@ $(EXPECTED_SKIPS) $(JOBS)" >> $(LOG)
\t@env | sort > $(LOG).$@; ls -A .. $(HOME) >> $(LOG).$@; [ ! -e made ] && touch made || echo again >> $(LOG).$@
\t@! grep $@ $(LOG).fails 2> $(LOG).none
"""
TESTS = """
import pytest
@pytest.mark.parametrize("build", {builds})
def test_on(build): pass
@pytest.mark.skipif({alone}, reason="needs two builds")
def test_of_both(): pass
@pytest.mark.every_build
def test_through_all(): pass
def test_of_none(): pass
class TestGroup:
    @pytest.mark.parametrize("text", ["a::b", "[c]\\n"])
    def test_name(self, text): pass
"""

pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir() or not shutil.which("git"), reason="skipped: this is no checkout of git")


@pytest.fixture
def checkout(tmp_path):
    """A repository with this README and the makefile above, whose packages are there; beside it `shared`."""
    folder = tmp_path / "outer" / "parhelion"
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    (folder / ".ci" / "packages").write_text("#!/bin/bash\n")
    shutil.copy(ROOT / "README.md", folder)
    (folder / "Makefile").write_text(MAKEFILE.replace("$(LOG)", str(tmp_path / "log")))
    (tmp_path / "outer" / "shared").mkdir()
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)
    (folder / "not-committed").touch()
    return folder


def run(checkout, **variables):
    (checkout.parent.parent / "tmp").mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "TMPDIR": str(checkout.parent.parent / "tmp"), **variables}
    return subprocess.run([checkout / ".ci" / "run"], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def test_the_commands_of_the_readme_come_first_and_see_a_newcomers_environment(checkout, tmp_path):
    done = run(checkout, PYTHONUNBUFFERED="1", MAKEFLAGS="-j3", PIP_INDEX_URL="https://index", https_proxy="http://proxy", JOBS="7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split() for line in (tmp_path / "log").read_text().splitlines()] == [["demo"], ["test"], ["test-others", ".ci/expected-skips"]]
    for target in ("demo", "test", "test-others"):
        seen = (tmp_path / f"log.{target}").read_text()
        assert "PYTHON" not in seen and "not-committed" not in seen and "shared\n" in seen
        assert "PIP_INDEX_URL=https://index\n" in seen and "https_proxy=http://proxy\n" in seen
        assert ("again" in seen) == (target != "demo")  # one clone
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("target", ["demo", "test", "test-others"])
def test_whatever_fails_the_rest_is_run_and_the_clone_is_left(checkout, tmp_path, target):
    (tmp_path / "log.fails").write_text(f"{target}\n")
    done = run(checkout)
    assert done.returncode == 1 and "the clone is left in" in done.stderr
    assert len((tmp_path / "log").read_text().splitlines()) == 3


@pytest.mark.parametrize("copied", [False, True])
def test_a_checkout_of_another_user_is_cloned_and_one_without_git_is_copied(checkout, tmp_path, copied):
    if copied:
        shutil.rmtree(checkout / ".git")
    elif os.geteuid() == 0:
        for path in (checkout, *checkout.rglob("*")):
            os.chown(path, 65534, 65534)
    done = run(checkout)
    assert done.returncode == 0 and ("it is copied" in done.stdout) == copied, done.stdout + done.stderr
    assert len((tmp_path / "log").read_text().splitlines()) == 3


@pytest.mark.parametrize("right", [True, False])
def test_the_distributions_python_comes_first_where_it_will_do(checkout, tmp_path, right):
    folder = tmp_path / "newer"
    folder.mkdir()
    (folder / "python3").write_text("#!/bin/sh\n")
    (folder / "python3").chmod(0o755)
    script = checkout / ".ci" / "run"
    script.write_text(script.read_text().replace("/usr/bin/python3 -c", "true -c" if right else "false -c"))
    assert run(checkout, PATH=f"{folder}:{os.environ['PATH']}").returncode == 0
    paths = [line for line in (tmp_path / "log.demo").read_text().splitlines() if line.startswith("PATH=")]
    assert paths[0].startswith("PATH=/usr/bin:" if right else f"PATH={folder}:/usr/bin:")


def test_make_test_leaves_out_the_tests_that_are_named_as_long(tmp_path):
    names = runpy.run_path(ROOT / "tests" / "conftest.py")["LONG"]
    assert [each for each in names if not (ROOT / "tests" / f"{each}.py").exists()] == []
    folder = tmp_path / "tests"
    (folder / names[0]).parent.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / f"{names[0]}.py").write_text("def test_long(): pass\n")
    (folder / "test_short.py").write_text("def test_short(): pass\n")
    option = re.search(r"-m 'not long'", (ROOT / "tests" / "test.sh").read_text()).group()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", "-c", "/dev/null", "--rootdir", tmp_path, *shlex.split(option), folder]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    assert "test_short" in told and "test_long" not in told


def test_a_second_run_has_the_tests_that_another_build_adds(tmp_path):
    """As tests/test.sh begins it: with the option alone, which the file beside the tests knows."""
    folder = tmp_path / "tests"
    folder.mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    option = re.search(r"--except-passed[= ]", (ROOT / "tests" / "test.sh").read_text()).group()

    def pytest_run(*words):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    file = folder / "test_builds.py"
    file.write_text(TESTS.format(builds=["mpich"], alone=True))
    pytest_run("--junitxml=first.xml")
    file.write_text(TESTS.format(builds=["mpich", "openmpi"], alone=False))
    told = pytest_run("--collect-only", *f"{option}first.xml".split())
    names = {line.partition("::")[2] for line in told.splitlines() if "::" in line}
    assert names == {"test_on[openmpi]", "test_of_both", "test_through_all"}

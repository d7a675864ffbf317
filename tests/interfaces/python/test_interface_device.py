"""Python's arrays on a device, without one."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from program_runs import PROGRAMS, python_builds, run_python

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    library = tmp_path_factory.mktemp("driver") / "libagainst_us.so"
    compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run([*compiler, "-I", ROOT / "include", "-I", ROOT / "src", ROOT / "tests/device/against_us.cpp", "-o", library], check=True)
    return library


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_arrays_on_a_device(build, ranks, driver):
    program = PROGRAMS / "_device.py"
    done, output = run_python(build, ranks, str(program), PARHELION_CUDA=str(driver))
    results = [json.loads(line.partition("RESULT ")[2]) for line in output.splitlines() if "RESULT {" in line]
    assert done.returncode == 0 and [each for each in results if each["failure"]] == [], output
    assert len(results) == 5, output

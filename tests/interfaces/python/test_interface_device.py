"""Python's arrays on a device, without one."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from measured import document, need_build, parhelion
from program_runs import PROGRAMS, python_builds, run_python

from parhelion.launch import default_build
from parhelion.machine import probes
from parhelion.machine.networks import device_memory
from parhelion.machine.probes import CHECKS

ROOT = Path(__file__).parents[3]


def compiled(source, folder):
    library = folder / "libagainst_us.so"
    compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", "-ffp-contract=off"]
    subprocess.run([*compiler, "-I", ROOT / "include", "-I", ROOT / "src", ROOT / "tests/device" / source, "-o", library], check=True)
    return library


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return compiled("against_us.cpp", tmp_path_factory.mktemp("driver"))


def run_on_device(build, ranks, **env):
    done, output = run_python(build, ranks, str(PROGRAMS / "_device.py"), **env)
    results = [json.loads(line.partition("RESULT ")[2]) for line in output.splitlines() if "RESULT {" in line]
    assert done.returncode == 0 and [each for each in results if each["failure"]] == [], output
    assert len(results) == 6, output


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_arrays_on_a_device(build, ranks, driver):
    run_on_device(build, ranks, PARHELION_CUDA=str(driver))


def test_arrays_on_a_device_over_hip(tmp_path):
    library = str(compiled("against_us_hip.cpp", tmp_path))
    run_on_device(python_builds()[0], 2, PARHELION_CUDA="none", PARHELION_HIP=library, PARHELION_TEST_DRIVER=library)


# What CuPy is to the page and the example, over the driver of the tests: arrays are computed at once, after what is on the current stream.
STAND_IN = """
import sys, types
import numpy as np
sys.path.insert(0, {programs!r})
from _device import Interface, Stream as DriverStream

current = None

class Stream(DriverStream):
    def __init__(self, non_blocking):
        super().__init__()
        self.ptr = self.handle.value
    def __enter__(self):
        global current
        current = self
        return self
    def __exit__(self, *raised):
        global current
        current = None

class Array:
    def __init__(self, values, memory=None):
        self.values, self.memory, self.shape = values, memory, values.shape
    @property
    def __cuda_array_interface__(self):
        self.memory.told = current.ptr if current else 1
        return self.memory.__cuda_array_interface__
    def __getitem__(self, place):
        return Array(self.values[place])
    def __setitem__(self, place, value):
        self.values[place] = asnumpy(value)

def operation(name):
    return lambda self, other: Array(getattr(asnumpy(self), name)(asnumpy(other)))
for name in "__add__", "__sub__", "__mul__", "__rmul__":
    setattr(Array, name, operation(name))

def asnumpy(array):
    if current:
        current.wait()
    return array.values if isinstance(array, Array) else array
def asarray(values):
    return Array(values)
def zeros(shape):
    memory = Interface(shape)
    memory.values[...] = 0
    return Array(memory.values, memory)

runtime = types.SimpleNamespace(getDeviceCount=lambda: 1)
cuda = types.SimpleNamespace(Stream=Stream, Device=lambda number: types.SimpleNamespace(use=lambda: None), runtime=runtime)
"""


@pytest.fixture(scope="module")
def with_cupy(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cupy")
    (folder / "cupy.py").write_text(STAND_IN.format(programs=str(PROGRAMS)))
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PARHELION_CUDA": str(driver), "PYTHONPATH": path}


def test_the_page_runs_as_it_stands(with_cupy, tmp_path):
    [block] = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/gpu.md").read_text(), re.MULTILINE | re.DOTALL)
    begin = "def fill(u): u[1:-1, 1:-1, 1:-1] = 1\ndef update(u): assert (cupy.asnumpy(u) == 1).all()\n"
    program = tmp_path / "page.py"
    program.write_text(begin + block.replace("512", "12") + "print(f'filled {u.shape}')\n")
    done, output = run_python(python_builds()[0], 2, str(program), **with_cupy)
    assert done.returncode == 0 and output.count("filled (8, 14, 14)") == 2, output


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_heat_on_devices_equals_the_serial_run(with_cupy, ranks):
    done, output = run_python(python_builds()[0], ranks, str(ROOT / "examples/heat_gpu.py"), **with_cupy)
    assert done.returncode == 0 and f"{ranks} ranks" in output and "equal to the serial result" in output, output


def test_the_doctor_tells_devices_or_why_there_are_none(driver, tmp_path, monkeypatch):
    def told(name="CUDA"):
        [finding] = [check.finding() for check in CHECKS if check.name == name]
        return finding.works, finding.detail

    monkeypatch.setenv("PARHELION_CUDA", str(driver))
    assert told() == (True, f"{driver}, CUDA 12.4: 0 device against us, the library's kernel loads")
    assert told("CUDA IPC") == (True, "a process read data that another one wrote on device 0")
    monkeypatch.setenv("AGAINST_US_VERSION", "10020")
    assert told() == (False, f"{driver} is of CUDA 10.2: arrays on a device need a driver of CUDA 11.0 or newer")
    monkeypatch.delenv("AGAINST_US_VERSION")
    monkeypatch.setattr(probes, "_kernel", lambda: b"another text")
    assert told() == (False, f"{driver}, CUDA 12.4: 0 device against us, cuModuleLoadData of {driver} failed: CUDA_ERROR_OF_THIS_DRIVER (1)")
    for file, why in ("none", "PARHELION_CUDA is none"), (tmp_path / "libcuda.so", "cannot open shared object file"):
        monkeypatch.setenv("PARHELION_CUDA", str(file))
        works, detail = told()
        assert not works and why in detail and str(file) in detail
        assert told("CUDA IPC") == (False, f"not tried: {detail}")
    monkeypatch.setenv("PARHELION_CUDA", str(driver))
    monkeypatch.setattr(probes, "_write_memory", lambda: bytes(64))
    works, detail = told("CUDA IPC")
    assert not works and detail.startswith(f"cuIpcOpenMemHandle of {driver} failed")
    monkeypatch.setattr(probes, "_write_memory", lambda: os._exit(3))
    assert told("CUDA IPC") == (False, "not tried: the owner of the memory died")


def test_the_doctor_finds_out_that_an_mpi_does_not_know_devices(driver, monkeypatch):
    """It touches memory that only the device may, and dies of it."""
    need_build()
    monkeypatch.setenv("PARHELION_CUDA", str(driver))
    assert device_memory(default_build()).startswith("not moved: the trial ended with status ")
    monkeypatch.setenv("PARHELION_CUDA", str(driver.parent / "none.so"))
    assert "needs a CUDA driver" in device_memory(default_build())


HALO = ("bench", "halo", "--memory", "device", "--ranks", "2", "--extent", "6", "--halo", "1", "--fields", "2", "--launches", "1", "--repetitions", "2",
        "--json", "out.json")


def test_exchanges_on_a_device_are_measured_and_verified(driver, tmp_path):
    need_build()
    done = parhelion(*HALO, cwd=tmp_path, timeout=200, PARHELION_CUDA=str(driver), AGAINST_US_POOLS="0")
    assert done.returncode == 0, done.stdout + done.stderr
    cases = document(tmp_path)["cases"]
    assert all(case["verified"] and case["params"]["memory"] == "device" for case in cases)
    assert {"auto", "device_ipc", "mpi", "hand_device_packed", "hand_device_copies", "floor"} <= {case["variant"] for case in cases}


def test_without_a_driver_the_benchmark_says_what_is_missing(tmp_path):
    need_build()
    done = parhelion(*HALO, cwd=tmp_path, timeout=100, PARHELION_CUDA="/nowhere/libcuda.so.1")
    assert done.returncode == 2 and "--memory device needs a CUDA driver: /nowhere/libcuda.so.1" in done.stdout + done.stderr

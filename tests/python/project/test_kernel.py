"""The kernels for GPUs that are kept are what their source gives."""

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "src" / "plan" / "device"


def bundle_in(folder):
    with tarfile.open(folder / "kernel.hip.tar.xz") as files:
        return files.extractfile("kernel.hip").read()


def make(target, folder):
    subprocess.run(["make", "-s", target, f"KERNEL={folder}"], cwd=ROOT, check=True, capture_output=True)


def require_clang(command, version):
    clang = shutil.which(command)
    if clang is None or f"clang version {version}." not in subprocess.run([clang, "--version"], capture_output=True, text=True).stdout:
        pytest.skip(f"needs clang {version}, by which the kernel was made")


def test_the_kernel_is_made_of_its_source(tmp_path):
    require_clang("clang", 14)
    make("kernel-ptx", tmp_path)
    assert (tmp_path / "kernel.ptx").read_text() == (KEPT / "kernel.ptx").read_text()


def test_nothing_of_the_kernel_is_fused():
    text = (KEPT / "kernel.ptx").read_text()
    assert ".entry parhelion_copy" in text and "fma" not in text


def code_objects(bundle):
    """The code object of each device, from HIP's bundle."""
    magic, at, found = b"__CLANG_OFFLOAD_BUNDLE__", 32, {}
    assert bundle.startswith(magic)
    for _ in range(int.from_bytes(bundle[24:32], "little")):
        first, size, length = (int.from_bytes(bundle[at + 8 * i : at + 8 * i + 8], "little") for i in range(3))
        found[bundle[at + 24 : at + 24 + length].decode()] = bundle[first : first + size]
        at += 24 + length
    return found


def test_the_kernel_of_hip_is_made_of_its_source(tmp_path):
    require_clang("clang-19", 19)
    make("kernel-hip", tmp_path)
    assert code_objects(bundle_in(tmp_path)) == code_objects(bundle_in(KEPT))


def test_the_kernel_of_hip_is_for_two_devices_and_small():
    objects = code_objects(bundle_in(KEPT))
    devices = {name for name, code in objects.items() if code}
    assert devices == {"hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx942"}
    for code in filter(None, objects.values()):
        assert code.startswith(b"\x7fELF") and b"parhelion_copy.kd" in code and len(code) < 100_000


def test_nothing_of_the_kernel_of_hip_is_fused(tmp_path):
    disassembler = shutil.which("llvm-objdump-19")
    if disassembler is None:
        pytest.skip("needs llvm-objdump-19")
    for name, code in code_objects(bundle_in(KEPT)).items():
        if code:
            (tmp_path / name).write_bytes(code)
            text = subprocess.run([disassembler, "-d", tmp_path / name], capture_output=True, text=True, check=True).stdout
            fused = [line for line in text.splitlines() if re.search(r"v_(pk_)?(fma|mad|mac)c?_(mix|f)", line)]
            division = re.compile("0x[4c]f800000,")  # of whole numbers, by 2³²
            assert "s_endpgm" in text and [line for line in fused if not division.search(line)] == []

"""The kernel for GPUs that is kept as PTX is what its source gives."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "src" / "plan" / "device" / "kernel.ptx"


def test_the_kernel_is_made_of_its_source(tmp_path):
    clang = shutil.which("clang")
    if clang is None or "clang version 14." not in subprocess.run([clang, "--version"], capture_output=True, text=True).stdout:
        pytest.skip("needs clang 14, by which the kernel was made")
    subprocess.run(["make", "-s", "kernel", f"KERNEL={tmp_path / 'kernel.ptx'}"], cwd=ROOT, check=True, capture_output=True)
    assert (tmp_path / "kernel.ptx").read_text() == KEPT.read_text()


def test_nothing_of_the_kernel_is_fused():
    assert "fma" not in KEPT.read_text()

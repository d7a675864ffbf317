"""The checks for ReFrame load, run, report medians and refuse what became slower."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic


reframe = shutil.which("reframe", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
pytestmark = [
    pytest.mark.skipif(not reframe, reason="ReFrame is not installed: pip install reframe-hpc"),
    pytest.mark.timeout(120),
]


def run(tmp_path, *words):
    """ReFrame on the halo check of one width and one field, with a measuring program that makes its figures up."""
    synthetic.write_build(tmp_path / "builds" / "synthetic")
    shim = tmp_path / "bin" / "parhelion"
    shim.parent.mkdir(exist_ok=True)
    shim.write_text(f"#!{sys.executable}\nimport sys\nimport parhelion.launch.builds as build\n"
                    f"build.build_directory = lambda: __import__('pathlib').Path({str(tmp_path / 'builds')!r})\n"
                    "from parhelion.cli.main import main\nsys.argv[0] = 'parhelion'\nmain()\n")
    shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": "", "RFM_COLORIZE": "0"}
    words = [reframe, "-c", Path(__file__).resolve().parents[3] / "examples" / "reframe", "-E", "halo==1 and fields==1", "--prefix", tmp_path / "rfm", "--keep-stage-files", *words]
    return subprocess.run(list(map(str, words)), env=env, capture_output=True, text=True, timeout=110, cwd=tmp_path)


def test_checks_load_and_write_their_scripts(tmp_path):
    done = run(tmp_path, "--dry-run")
    assert "Ran 1/1 test case(s)" in done.stdout and done.returncode == 0, done.stdout
    script = next((tmp_path / "rfm").rglob("rfm_job.sh")).read_text()
    assert "parhelion bench halo --halo 1 --fields 1" in script and "--ranks 2" in script


def test_medians_are_reported_and_a_slower_run_than_the_baseline_fails(tmp_path):
    done = run(tmp_path, "-r", "-S", "launches=5")
    assert done.returncode == 0 and "halo1_fields1_auto" in done.stdout, done.stdout + done.stderr
    measured = next((tmp_path / "rfm").rglob("record.jsonl")).parent
    quick = tmp_path / "base" / "ParhelionHalo" / "earlier"
    shutil.copytree(measured, quick)
    scaled = re.sub(r'"samples": \[([^]]*)\]', lambda found: '"samples": [' + ", ".join(str(0.8 * float(x)) for x in found[1].split(",")) + "]",
                    (measured / "record.jsonl").read_text())
    Path(quick, "record.jsonl").write_text(scaled)
    done = run(tmp_path, "-r", "-S", "launches=5", "-S", f"baseline={tmp_path / 'base'}")
    assert done.returncode != 0 and "slower than the baseline" in done.stdout, done.stdout

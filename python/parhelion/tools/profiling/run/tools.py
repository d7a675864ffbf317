"""The tools that take samples: Linux perf, and HPCToolkit where it is; `watch` takes none, and looks at sleep and libraries alone."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..model import ProfileError

CALL_GRAPHS = {"dwarf": ["--call-graph", "dwarf,16384"], "fp": ["--call-graph", "fp"], "none": []}
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


@dataclass(frozen=True)
class Tool:
    """How each rank is started; in `argv`, `{rank}` becomes its number and `{folder}` the profile's folder."""

    name: str
    version: str
    argv: list[str]


def find_tool(name: str, frequency: int, call_graph: str) -> Tool:
    """The named tool, ready to take samples here; raises `ProfileError` with the reason when it cannot."""
    return {"perf": _perf, "hpctoolkit": _hpctoolkit, "watch": _watch}[name](frequency, call_graph)


def _perf(frequency: int, call_graph: str) -> Tool:
    program = shutil.which("perf")
    if program is None:
        raise ProfileError(
            "perf is not installed: install it (Debian: linux-perf; Ubuntu: linux-tools-generic), or use --tool hpctoolkit"
        )
    _check_perf_works(program)
    version = _output([program, "--version"]).removeprefix("perf version").strip()
    # cpu-clock is a timer of the kernel: it is there in virtual machines, which often have no hardware counters.
    options = ["record", "-q", "-e", "cpu-clock", "-F", str(frequency), *CALL_GRAPHS[call_graph]]
    return Tool("perf", version, [program, *options, "-o", "{folder}/rank-{rank}.data", "--"])


def _check_perf_works(program: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "record", "-q", "-e", "cpu-clock", "-o", os.path.join(folder, "data"), "--", "true"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        told = next((line.strip() for line in done.stderr.splitlines() if line.strip()), "it failed")
        level = PARANOID.read_text().strip() if PARANOID.exists() else "absent"
        raise ProfileError(f"perf cannot take samples here: {told} (kernel.perf_event_paranoid is {level}: it must be 2 or less, "
                           "and a container must allow perf_event_open)")  # fmt: skip


def _hpctoolkit(frequency: int, call_graph: str) -> Tool:
    program = shutil.which("hpcrun")
    if program is None:
        raise ProfileError(
            "HPCToolkit is not installed: no hpcrun on the path; install it (Spack: hpctoolkit), or use --tool perf"
        )
    version = _output([program, "--version"])
    return Tool("hpctoolkit", version, [program, "-e", f"CPUTIME@f{frequency}", "-o", "{folder}/hpctoolkit-measurements"])


def _watch(frequency: int, call_graph: str) -> Tool:
    return Tool("watch", "", [])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter((done.stdout or done.stderr).splitlines()), "")

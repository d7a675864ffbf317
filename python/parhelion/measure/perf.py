"""The tools that take samples: Linux perf, HPCToolkit, and `watch`, which takes none; and the samples of a file of perf's."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..launch.child import ask, child
from ..record.profile import Frame, KERNEL, ProfileError, UNKNOWN

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
        try:
            done = ask(words, seconds=60)
        except subprocess.TimeoutExpired:
            raise ProfileError("perf takes no sample of /bin/true within 60 s: see what it waits for, or use --tool hpctoolkit") from None
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
        done = ask(command, seconds=30)
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter((done.stdout or done.stderr).splitlines()), "")


SAMPLE = re.compile(r"^\s*(?P<command>.*\S)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<time>[\d.]+):\s+(?P<period>\d+)")
FRAME = re.compile(r"^\s+[0-9a-f]+ (?P<rest>.*\))$")


class Sample(NamedTuple):
    """One sample: the command, its process, how long it stands for, and frames from the outermost caller inwards."""

    command: str
    process: int
    seconds: float
    frames: tuple[Frame, ...]


READ_S = 600.0


@contextmanager
def _killed_after(seconds: float, process: subprocess.Popen[str]) -> Iterator[threading.Timer]:
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield timer
    finally:
        timer.cancel()


def read_samples(file: Path, notes: list[str], limit_s: float = READ_S) -> Iterator[Sample]:
    """Every sample of one rank, each as soon as perf has told it. Where not all can be read, `notes` gets a line that says why."""
    # Inlined functions cost a look into debug information per address, and tell nothing about libraries.
    words = [shutil.which("perf") or "perf", "script", "--no-inline", "-i", str(file), "-F", "comm,pid,tid,time,period,ip,sym,dso"]
    count = 0
    with tempfile.TemporaryFile("w+", errors="replace") as errors, child(words, stdout=subprocess.PIPE, stderr=errors) as perf, _killed_after(limit_s, perf) as timer:
        assert perf.stdout
        for sample in parse_script(perf.stdout):
            count += 1
            yield sample
        status = perf.wait()
        if status and timer.is_alive():
            errors.seek(0)
            told = next((line.strip() for line in reversed(errors.readlines()) if line.strip()), f"perf script failed with status {status}")
        elif status:
            told = f"perf script takes longer than {limit_s:g} s"
    if status and not count:
        raise ProfileError(f"{file} cannot be read: {told}")
    if status:
        notes.append(f"{file.name}: the first {count} samples are told, the others cannot be read: {told}")


def parse_script(lines: Iterable[str]) -> Iterator[Sample]:
    """Samples out of the text of `perf script`; lines of other kinds are passed over."""
    head, frames = None, list[Frame]()
    for line in lines:
        if found := FRAME.match(line):
            frames.append(_frame(found["rest"]))
        elif not line.strip():
            if head:
                yield _sample(head, frames)
            head, frames = None, []
        elif found := SAMPLE.match(line):
            head, frames = found, []
    if head:
        yield _sample(head, frames)


@lru_cache(maxsize=10_000)  # samples repeat their frames
def _frame(text: str) -> Frame:
    return frame(*_split(text))


def _split(text: str) -> tuple[str, str]:
    """Symbol and library of `operator()(int) (/a/b (1).so)`: the library stands in the last pair of parentheses."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[:place].rstrip(), text[place + 1 : -1]
    return text, UNKNOWN


def frame(symbol: str, library: str) -> Frame:
    """A frame with the kernel's many names as one."""
    if library.startswith("[kernel") or library.endswith(".ko") or library.startswith("[guest.kernel"):
        library = KERNEL
    elif library.startswith(("[", "//anon")) and library not in ("[vdso]", "[vsyscall]"):
        library = UNKNOWN  # callers that were guessed from a stack without tables
    # A library that was replaced or removed while it ran.
    return Frame(library.removesuffix(" (deleted)"), symbol.partition("+0x")[0] or UNKNOWN)


def _sample(head: re.Match[str], frames: list[Frame]) -> Sample:
    outwards = frames or [Frame(UNKNOWN, UNKNOWN)]
    return Sample(head["command"], int(head["pid"]), int(head["period"]) * 1e-9, tuple(reversed(outwards)))

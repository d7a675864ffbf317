"""Samples out of a file that perf has written, through `perf script`."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..model import KERNEL, UNKNOWN, Frame, ProfileError

SAMPLE = re.compile(r"^\s*(?P<command>.*\S)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<time>[\d.]+):\s+(?P<period>\d+)")
FRAME = re.compile(r"^\s+[0-9a-f]+ (?P<rest>.*\))$")


class Sample(NamedTuple):
    """One sample: the command, its process, how long it stands for, and frames from the outermost caller inwards."""

    command: str
    process: int
    seconds: float
    frames: tuple[Frame, ...]


def read_samples(file: Path) -> Iterator[Sample]:
    """Every sample of one rank."""
    # Inlined functions cost a look into debug information per address, and tell nothing about libraries.
    words = [shutil.which("perf") or "perf", "script", "--no-inline", "-i", str(file), "-F", "comm,pid,tid,time,period,ip,sym,dso"]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600)
    if done.returncode:
        told = next((line.strip() for line in reversed(done.stderr.splitlines()) if line.strip()), "perf script failed")
        raise ProfileError(f"{file} cannot be read: {told}")
    return parse_script(done.stdout.splitlines())


def parse_script(lines: Iterable[str]) -> Iterator[Sample]:
    """Samples out of the text of `perf script`; lines of other kinds are passed over."""
    head, frames = None, []
    for line in lines:
        if found := FRAME.match(line):
            frames.append(frame(*_split(found["rest"])))
        elif not line.strip():
            if head:
                yield _sample(head, frames)
            head, frames = None, []
        elif found := SAMPLE.match(line):
            head, frames = found, []
    if head:
        yield _sample(head, frames)


@lru_cache(maxsize=100_000)  # samples repeat their frames
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

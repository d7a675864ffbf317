"""The processes that a process started, found in /proc."""

import os
import signal
from typing import NamedTuple


class Process(NamedTuple):
    """A process told apart from a later one with the same number by its start time."""

    pid: int
    parent: int
    started: str


def descendants(pid: int) -> list[Process]:
    """Children, grandchildren, … of `pid` at this moment, without `pid` itself."""
    processes = list(filter(None, map(_read, _numbers())))
    family = {pid}
    found: list[Process] = []
    while new := [p for p in processes if p.parent in family and p.pid not in family]:
        family |= {p.pid for p in new}
        found += new
    return found


def kill_remaining(processes: list[Process]) -> None:
    """SIGKILL for those of `processes` that still run."""
    for process in processes:
        now = _read(process.pid)
        if now is not None and now.started == process.started:
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return Process(pid, int(fields[1]), fields[19])

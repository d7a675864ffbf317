"""The processes that a process started and what they would leave behind, found in /proc."""

import glob
import os
import signal
from typing import NamedTuple


class Process(NamedTuple):
    """A process told apart from a later one with the same number by its start time."""

    pid: int
    parent: int
    started: str


# Shared memory that MPIs and networks make by name and remove once all ranks have it: a rank that is killed before leaves it.
MEMORY = ("mpich_shm_", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "Intel_MPI_", "psm2_shm.", "fi_shm_")
MEMORY_FOLDER = "/dev/shm/"


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


def shared_memory(processes: list[Process]) -> set[str]:
    """Files of known makers in /dev/shm that `processes` have mapped at this moment and that still have their names."""
    prefixes = tuple(MEMORY_FOLDER + name for name in MEMORY)
    found: set[str] = set()
    for process in processes:
        mapped = (line.split(None, 5)[5:] for line in _text(f"/proc/{process.pid}/maps").splitlines() if MEMORY_FOLDER in line)
        found |= {name for name in (words[0] for words in mapped if words) if name.startswith(prefixes) and not name.endswith(" (deleted)")}
    return found


def session_folders(pids: set[int]) -> list[str]:
    """Where Open MPI's launchers among `pids` kept their sockets and shared files; a killed one leaves its folder."""
    place = os.environ.get("TMPDIR", "/tmp")
    gone = [pid for pid in pids if not os.path.exists(f"/proc/{pid}")]  # by now a number may be somebody else's
    names = [f"{place}/{name}" for pid in gone for name in (f"ompi.{pid}", f"ompi.*/pid.{pid}", f"prte.*/dvm.{pid}")]
    return [folder for name in names for folder in glob.glob(name)]


def marked(mark: str) -> list[Process]:
    """Processes that have `mark`, as NAME=VALUE, in the environment that they were started with."""
    numbers = [pid for pid in _numbers() if mark in _text(f"/proc/{pid}/environ").split("\0")]
    return list(filter(None, map(_read, numbers)))


def _text(file: str) -> str:
    try:
        with open(file, errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int) -> Process | None:
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return Process(pid, int(fields[1]), fields[19]) if fields else None

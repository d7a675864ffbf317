"""Supervise one command and its descendants: `python keeper.py SOCKET GRACE WHOM COMMAND…`.

If the parent ends for any reason, SIGKILL included, its socket closes, and the keeper terminates all processes of the command: SIGTERM,
then SIGKILL after GRACE seconds, or at once on a SIGTERM to the keeper. As a subreaper it adopts orphans of any session. It reports the
exit status over the socket. Every launch starts a keeper, so it imports only the standard library.
"""

import contextlib
import ctypes
import errno
import glob
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import NamedTuple

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LINGER_S = 4.0  # for descendants that end after the command, such as a watcher writing its file
LOOK_S = 0.02
FIRST_LOOK_S = 0.25  # doubled after each poll: 15 polls in an hour
LOST_S = 10.0  # a process that survives SIGKILL sleeps in the kernel
# Named shared memory of MPIs and network libraries, which killed ranks leave behind.
MEMORY = ("mpich_shm_", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "Intel_MPI_", "psm2_shm.", "fi_shm_")
MEMORY_FOLDER = "/dev/shm/"
libc = ctypes.CDLL(None, use_errno=True)


class Process(NamedTuple):
    """A process, identified by PID and start time, as PIDs are reused."""

    pid: int
    parent: int
    started: str


class Keeper:
    """The supervised command and its state."""

    root: subprocess.Popen

    def __init__(self, control: socket.socket, grace: float, ask_all: bool) -> None:
        self.control, self.grace, self.ask_all = control, grace, ask_all
        self.wake = _wakeup()
        self.watched = [control.fileno(), self.wake]
        self.ending = self.hurry = False
        self.status: int | None = None
        self.memory: set[str] = set()
        self.pids: set[int] = set()

    def start(self, argv: list[str]) -> bool:
        """Start the command; report failure to the parent."""
        try:
            self.root = subprocess.Popen(argv, start_new_session=not self.ask_all, preexec_fn=_end_with_parent)
        except OSError as error:
            self._tell(error=error.errno or errno.EIO, file=error.filename or argv[0])
            return False
        self._tell(pid=self.root.pid)
        return True

    def keep(self) -> None:
        """Return when no descendant of the command is left."""
        # MPICH keeps its shared memory linked while ranks run: record the names before a crash.
        pause = FIRST_LOOK_S
        seen = time.monotonic() + pause
        while self._reap() and self.status is None and not self.ending:
            self._look(max(0.0, seen - time.monotonic()))
            if time.monotonic() >= seen:
                self._family()
                pause *= 2
                seen = time.monotonic() + pause
        if self.status is None:
            self._ask()
        else:
            self._linger()
        left = self._kill()
        self._tidy()
        self._tell(returncode=self.status, left=left)

    def _ask(self) -> None:
        """Send SIGTERM to the launcher, which ends ranks on all hosts, and wait."""
        family = self._family()
        _signal([process.pid for process in family] if self.ask_all else [self.root.pid], signal.SIGTERM)
        end = time.monotonic() + self.grace
        while self._reap() and self.status is None and not self.hurry and time.monotonic() < end:
            self._look(LOOK_S)
            self._family()

    def _linger(self) -> None:
        end = time.monotonic() + LINGER_S
        while self._reap() and not self.ending and time.monotonic() < end:
            self._look(LOOK_S)

    def _kill(self) -> list[int]:
        """Send SIGKILL until no descendant is left, as dying ones may have forked; return survivors."""
        end = time.monotonic() + LOST_S
        while self._reap() and time.monotonic() < end:
            kill_remaining(self._family())
            time.sleep(LOOK_S / 4)
        return [process.pid for process in descendants(os.getpid())]

    def _family(self) -> list[Process]:
        """Return all descendants; record their shared memory and PIDs for the clean-up."""
        family = descendants(os.getpid())
        self.memory |= shared_memory(family)
        self.pids |= {process.pid for process in family}
        return family

    def _tidy(self) -> None:
        for file in self.memory:
            with contextlib.suppress(OSError):
                os.unlink(file)
        for folder in session_folders(self.pids):
            shutil.rmtree(folder, ignore_errors=True)

    def _look(self, wait_s: float | None) -> None:
        """Wait for the parent, a signal or the end of a child."""
        ready = select.select(self.watched, [], [], wait_s)[0]
        if self.wake in ready:
            if {signal.SIGTERM, signal.SIGHUP} & set(os.read(self.wake, 512)):
                self.hurry, self.ending = self.ending, True
        if self.control.fileno() in ready:  # the parent closed it; it never writes
            self.watched.remove(self.control.fileno())
            self.ending = True

    def _reap(self) -> bool:
        """Reap children; False if none is left. Orphans become children, so then nothing runs."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.root.pid:
                self.status = self.root.returncode = os.waitstatus_to_exitcode(status)

    def _tell(self, **what: object) -> None:
        with contextlib.suppress(OSError):  # the parent may have ended
            self.control.sendall(json.dumps(what).encode() + b"\n")


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    grace, ask_all, argv = float(sys.argv[2]), sys.argv[3] == "all", sys.argv[4:]
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit(f"parhelion: this kernel does not let a process adopt orphans: {os.strerror(ctypes.get_errno())}")
    keeper = Keeper(control, grace, ask_all)
    if keeper.start(argv):
        keeper.keep()


def _wakeup() -> int:
    """Return a descriptor that receives signals. exec resets handlers but keeps ignored signals, so the command inherits only those."""
    reads, writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)
    return reads


def _end_with_parent() -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def descendants(pid: int) -> list[Process]:
    """Return the current descendants of `pid`, without `pid` itself."""
    processes = list(filter(None, map(_read, _numbers())))
    family = {pid}
    found: list[Process] = []
    while new := [p for p in processes if p.parent in family and p.pid not in family]:
        family |= {p.pid for p in new}
        found += new
    return found


def kill_remaining(processes: list[Process]) -> None:
    for process in processes:
        now = _read(process.pid)
        if now is not None and now.started == process.started:
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def shared_memory(processes: list[Process]) -> set[str]:
    """Return known kinds of files in /dev/shm that `processes` have mapped and that still exist."""
    prefixes = tuple(MEMORY_FOLDER + name for name in MEMORY)
    found: set[str] = set()
    for process in processes:
        mapped = (line.split(None, 5)[5:] for line in _text(f"/proc/{process.pid}/maps").splitlines() if MEMORY_FOLDER in line)
        found |= {name for name in (words[0] for words in mapped if words) if name.startswith(prefixes) and not name.endswith(" (deleted)")}
    return found


def session_folders(pids: set[int]) -> list[str]:
    """Return session folders of ended Open MPI launchers among `pids`."""
    place = os.environ.get("TMPDIR", "/tmp")
    gone = [pid for pid in pids if not os.path.exists(f"/proc/{pid}")]  # excludes reused PIDs
    names = [f"{place}/{name}" for pid in gone for name in (f"ompi.{pid}", f"ompi.*/pid.{pid}", f"prte.*/dvm.{pid}")]
    return [folder for name in names for folder in glob.glob(name)]


def marked(mark: str) -> list[Process]:
    """Return the processes with `mark` (NAME=VALUE) in their initial environment."""
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


if __name__ == "__main__":
    main()

"""Run one command to its end, or terminate it with all descendants.

Each `Job` runs under a keeper (keeper.py), a process that terminates the job when this one ends for any reason. `ask` runs short queries
without a keeper.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .ending import Ended, asked_again, check, held, to_end
from .keeper import kill_remaining, marked

GRACE_S = 3.0
TRIES = 3
LOOK_S = 0.5  # upper bound on the delay of a signal that Python lost
READ_ON_S = 3.0
KEEPER = Path(__file__).with_name("keeper.py")
MARK = "PARHELION_JOB"  # set in the environment of a job's processes


@contextmanager
def child(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a command with text streams and options of `subprocess.Popen`; leaving the context kills it.

    Signals are deferred inside `Popen`, where they would leak the process.
    """
    process = None
    try:
        with held():
            process = subprocess.Popen(argv, text=True, errors="replace", **options)
        yield process
    finally:
        if process:
            with process:
                process.kill()


def ask(argv: Sequence[str], env: Mapping[str, str] | None = None, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command and return its output. Raises OSError if it cannot start, `subprocess.TimeoutExpired` after `seconds`."""
    with child(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, errors = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


@dataclass(frozen=True)
class Completed:
    """Result of a command: `returncode` is negative after a signal, None after a timeout; `seconds` is the elapsed time."""

    argv: list[str]
    returncode: int | None
    seconds: float

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def timed_out(self) -> bool:
        return self.returncode is None


class Job:
    """A running command; leaving the context terminates it.

    Output goes to this process's streams, or by lines to `on_line`. If the launcher prints `false_start` and fails, the job retries and
    says so on stderr. `foreground` keeps the command in this session and terminal, and signals all its processes, not only the first;
    `reads` passes standard input, which must be no terminal. Raises OSError if the command cannot start.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        cwd: str | os.PathLike | None = None,
        on_line: Callable[[str], None] | None = None,
        false_start: str | None = None,
        foreground: bool = False,
        reads: bool = False,
    ) -> None:
        self.reads = reads or foreground
        self.argv, self.cwd, self.on_line, self.false_start = list(argv), cwd, on_line, false_start
        self.foreground = foreground
        self.env = dict(os.environ if env is None else env)
        self.returncode: int | None = None
        self.tries = 0
        try:
            with held():
                self._start()
        except Ended:  # no caller holds this job yet
            self.end()
            raise

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait up to `seconds`; True if no process of the command runs any more."""
        end = None if seconds is None else time.monotonic() + seconds
        while self.returncode is None:
            check()
            rest = LOOK_S if end is None else min(LOOK_S, max(0.0, end - time.monotonic()))
            if self._listen(rest) and self._failed_to_start():
                print(f"{self.false_start}: starting again", file=sys.stderr, flush=True)
                with held():
                    self._start()
            if end is not None and time.monotonic() >= end:
                break
        return self.returncode is not None

    def end(self) -> None:
        """Terminate the command: SIGTERM to it, after the grace period SIGKILL to all descendants."""
        with held():
            with suppress(OSError):
                self.control.shutdown(socket.SHUT_WR)
            while self.returncode is None:
                if asked_again():
                    self.keeper.terminate()
                self._listen(0.1)

    def _start(self) -> None:
        sys.stdout.flush()
        self.tries += 1
        self.seen, self.returncode, self.heard = False, None, b""
        self.told: dict[str, object] = {}
        self.mark = os.urandom(8).hex()
        self.control, theirs = socket.socketpair()
        with theirs:
            self.keeper = self._keeper(theirs)
        to_end.append(self)
        stream = self.keeper.stdout or self.keeper.stderr
        self.follower = threading.Thread(target=self._follow, args=(stream,), daemon=True) if stream else None
        if self.follower:
            self.follower.start()
        while "pid" not in self.told and self.returncode is None:
            self._listen(None)
        if "error" in self.told:
            number = int(str(self.told["error"]))
            raise OSError(number, os.strerror(number), str(self.told["file"]))

    def _keeper(self, control: socket.socket) -> subprocess.Popen[str]:
        control.set_inheritable(True)
        whom = "all" if self.foreground else "first"
        return subprocess.Popen(
            [sys.executable, "-E", "-S", "-s", str(KEEPER), str(control.fileno()), str(GRACE_S), whom, *self.argv],
            env=self.env | {MARK: self.mark},
            cwd=self.cwd,
            stdin=None if self.reads else subprocess.DEVNULL,
            stdout=subprocess.PIPE if self.on_line else None,
            stderr=subprocess.STDOUT if self.on_line else subprocess.PIPE if self.false_start else None,
            start_new_session=not self.foreground,
            pass_fds=[control.fileno()],
            text=True,
            errors="replace",
        )

    def _listen(self, seconds: float | None) -> bool:
        """Read the keeper's messages; True if it and all its processes have ended."""
        if not select.select([self.control], [], [], seconds)[0]:
            return False
        try:
            said = self.control.recv(4096)
        except ConnectionError:
            said = b""
        self.heard += said
        if said:
            *lines, self.heard = self.heard.split(b"\n")
            for line in lines:
                self.told |= json.loads(line)
            return False
        self._close()
        return True

    def _close(self) -> None:
        self.keeper.wait()
        self.control.close()
        if "returncode" not in self.told and "error" not in self.told:
            # The keeper was killed: the launcher gets SIGTERM, and the mark identifies other processes.
            kill_remaining(marked(f"{MARK}={self.mark}"))
        if self.follower:
            self.follower.join(READ_ON_S)
        if left := self.told.get("left"):
            print(f"parhelion: processes {left} do not end even by SIGKILL", file=sys.stderr, flush=True)
        code = self.told.get("returncode")
        self.returncode = code if isinstance(code, int) else -signal.SIGKILL
        to_end.remove(self)

    def _failed_to_start(self) -> bool:
        return self.seen and self.returncode != 0 and self.tries < TRIES

    def _follow(self, stream: Iterable[str]) -> None:
        hand_on = self.on_line or _to_stderr
        for line in stream:
            self.seen = self.seen or (self.false_start is not None and self.false_start in line)
            try:
                hand_on(line.rstrip("\n"))
            except OSError:  # nobody reads, or a full disk: the command must not wait for a reader
                hand_on = _drop


def run_command(argv: Sequence[str], env: Mapping[str, str] | None = None, *, timeout: float | None = None, **options: Any) -> Completed:
    """Run `argv` as a `Job` with these `options` and wait.

    After `timeout` seconds or a signal, all its processes are terminated. Raises OSError if it cannot start.
    """
    start = time.monotonic()
    with Job(argv, env, **options) as job:
        in_time = job.wait(timeout)
    return Completed(job.argv, job.returncode if in_time else None, time.monotonic() - start)


def _drop(line: str) -> None:
    pass


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

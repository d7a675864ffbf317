"""Running one command to its end, or ending it and everything that it started."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .tree import descendants, kill_remaining

GRACE = 3.0


@dataclass(frozen=True)
class Completed:
    """How a command ended. `returncode` is negative after a signal, and None when it timed out; `seen`: what was watched for."""

    argv: list[str]
    returncode: int | None
    timed_out: bool
    seconds: float
    seen: bool = False

    @property
    def ok(self) -> bool:
        return self.returncode == 0


def run_command(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    *,
    timeout: float | None = None,
    cwd: str | os.PathLike | None = None,
    on_line: Callable[[str], None] | None = None,
    watch_for: str | None = None,
) -> Completed:
    """Run `argv`; its output streams to ours, or line by line to `on_line`; a text may be watched for in what it says of errors.

    After `timeout` seconds, or when this process is interrupted, the command and all its descendants
    are ended: SIGTERM first, SIGKILL 3 s later. Raises OSError when the program cannot be started.
    """
    start = time.monotonic()
    sys.stdout.flush()
    process = subprocess.Popen(
        list(argv),
        env=None if env is None else dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if on_line else None,
        stderr=subprocess.STDOUT if on_line else subprocess.PIPE if watch_for else None,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    follower = _Follower(process, on_line or _to_stderr, watch_for) if on_line or watch_for else None
    timed_out = False
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        if process.poll() is None:
            _end(process)
        if follower:
            follower.join(GRACE)
    code = None if timed_out else process.returncode
    return Completed(list(argv), code, timed_out, time.monotonic() - start, bool(follower and follower.seen))


class _Follower(threading.Thread):
    """Hands on what a process prints, line by line, and looks for a text in it."""

    def __init__(self, process: subprocess.Popen, on_line: Callable[[str], None], text: str | None):
        super().__init__(daemon=True)
        self.stream = process.stdout or process.stderr
        self.on_line = on_line
        self.text = text
        self.seen = False
        self.start()

    def run(self) -> None:
        for line in self.stream:
            self.seen = self.seen or (self.text is not None and self.text in line)
            self.on_line(line.rstrip("\n"))


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _end(process: subprocess.Popen) -> None:
    """Ranks may sit in sessions of their own, so the tree is listed before its root is gone."""
    family = descendants(process.pid)
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kill_remaining(family)

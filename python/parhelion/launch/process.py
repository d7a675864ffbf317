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
    """How a command ended. `returncode` is negative after a signal, and None when it timed out."""

    argv: list[str]
    returncode: int | None
    timed_out: bool
    seconds: float

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
) -> Completed:
    """Run `argv`; its output streams to ours, or line by line to `on_line`.

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
        stderr=subprocess.STDOUT if on_line else None,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    reader = _follow(process, on_line)
    timed_out = False
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        if process.poll() is None:
            _end(process)
        if reader:
            reader.join(GRACE)
    code = None if timed_out else process.returncode
    return Completed(list(argv), code, timed_out, time.monotonic() - start)


def _follow(process: subprocess.Popen, on_line: Callable[[str], None] | None) -> threading.Thread | None:
    if on_line is None:
        return None

    def read() -> None:
        for line in process.stdout:
            on_line(line.rstrip("\n"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return reader


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

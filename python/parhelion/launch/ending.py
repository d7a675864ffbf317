"""Signals that ask a command to end: one exception, raised once, and an end that shells understand.

The first SIGINT, SIGTERM, SIGHUP or SIGQUIT raises `Ended` wherever the main thread is, so that everything that is open is
closed on the way out; those that follow are counted and raise nothing, so that closing is not interrupted. What was ignored
when the process began stays ignored: SIGHUP under nohup, SIGINT in the background of a shell without job control. Nothing
here ends ranks; their keepers do, even where this process is killed on the way.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
AGAIN_S = 0.5  # `timeout` signals a process, then its group


class Ended(BaseException):
    """A signal asks this process to end. No `Exception`, so that nobody takes it for a failure that can be passed over."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(f"ended by {number.name}")
        self.number = number


class _State:
    """What has come so far; of this process, as signals are."""

    def __init__(self) -> None:
        self.ended: Ended | None = None
        self.since = 0.0
        self.again = False
        self.held = 0


_state = _State()


class Endable(Protocol):
    """What runs beside this process, such as a job with ranks."""

    def end(self) -> None: ...


to_end: list[Endable] = []  # to end when a signal ends this process


def check() -> None:
    """Raise what has come and was lost: Python drops exceptions in callbacks of its own. For loops that wait."""
    if _state.ended and not _state.held:
        raise _state.ended


def asked_again() -> bool:
    """Whether a later signal says that it takes too long."""
    return _state.again


@contextmanager
def held() -> Iterator[None]:
    """What happens inside is not interrupted by a signal; one that has come meanwhile is raised afterwards."""
    before = _state.ended
    _state.held += 1
    try:
        yield
    finally:
        _state.held -= 1
    if before is None:
        check()


@contextmanager
def ends_by_signals(program: str) -> Iterator[None]:
    """For the whole of a command: after a signal, one line says so, and the process ends by that very signal."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _note)
    os.register_at_fork(after_in_child=_forget)
    try:
        yield
    except BaseException as error:
        if _state.ended is None:
            raise
        # The signal caused `error`, for example by a lost terminal: drop it.
        del error
    finally:
        ended = _state.ended
        if ended is None:
            for number, handler in before.items():
                if handler is not None:  # None: set by a C library, such as an MPI
                    signal.signal(number, handler)
    if ended is not None:
        _end(program, ended)


def _forget() -> None:
    """A forked child is to die of a signal, and not to go through what its parent has open."""
    for number in SIGNALS:
        if signal.getsignal(number) is _note:
            signal.signal(number, signal.SIG_DFL)


def _note(number: int, frame: object) -> None:
    if _state.ended is not None:
        _state.again = _state.again or time.monotonic() - _state.since > AGAIN_S
        return
    _state.ended = Ended(signal.Signals(number))
    _state.since = time.monotonic()
    check()


def _end(program: str, ended: Ended) -> None:
    for job in list(to_end):
        job.end()
    with suppress(OSError, ValueError):
        print("; ".join([f"{program}: {ended}", *getattr(ended, "__notes__", [])]), file=sys.stderr, flush=True)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    signal.signal(ended.number, signal.SIG_DFL)
    os.kill(os.getpid(), ended.number)

"""Termination signals: raise one exception, clean up, and exit by the same signal.

The first SIGINT, SIGTERM, SIGHUP or SIGQUIT raises `Ended` in the main thread; later ones are only counted, so that they do not interrupt
the clean-up. Inherited ignored signals stay ignored (SIGHUP under nohup, SIGINT in background jobs). Keepers terminate the ranks, even if
this process is killed meanwhile.
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
AGAIN_S = 0.5  # `timeout` signals the process and then its group: not a second request


class Ended(BaseException):
    """A signal asks this process to end. Not an `Exception`, so that handlers do not swallow it."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(f"ended by {number.name}")
        self.number = number


class _State:
    """Signals received so far by this process."""

    def __init__(self) -> None:
        self.ended: Ended | None = None
        self.since = 0.0
        self.again = False
        self.held = 0


_state = _State()


class Endable(Protocol):
    """A running activity, such as a job of ranks."""

    def end(self) -> None: ...


to_end: list[Endable] = []  # activities to end when a signal ends this process


def check() -> None:
    """Raise a pending `Ended`; for waiting loops, as Python drops exceptions inside its own callbacks."""
    if _state.ended and not _state.held:
        raise _state.ended


def asked_again() -> bool:
    """Whether a second signal asks for immediate termination."""
    return _state.again


@contextmanager
def held() -> Iterator[None]:
    """Defer signals inside the context and raise a pending `Ended` on exit."""
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
    """Context of a whole command: after a signal, print one line and exit by the same signal."""
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
        # Whatever exception arrives here, the signal caused it (e.g. a lost terminal's OSError).
        del error
    finally:
        ended = _state.ended
        if ended is None:
            for number, handler in before.items():
                if handler is not None:  # None: a C library's handler, such as an MPI's
                    signal.signal(number, handler)
    if ended is not None:
        _end(program, ended)


def _forget() -> None:
    """Restore default handlers in a forked child, which must not run its parent's clean-up."""
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

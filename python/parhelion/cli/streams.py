"""A command from its beginning to its end: signals, and standard streams that are closed or cannot be written to. Needs no other package."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..launch.ending import ends_by_signals

PROGRAM = "parhelion"
CANNOT_WRITE = 2
READER_HAS_GONE = 1  # as click ends


@contextmanager
def whole_command() -> Iterator[None]:
    """Around all that a command does. Ends the process, with status 2 where standard output has not taken everything.

    The interpreter writes what is still buffered when nobody can catch the error any more; here it is written before that.
    """
    with ends_by_signals(PROGRAM):
        _open_closed_streams()
        status: object = 0
        failed: OSError | None = None
        try:
            yield
        except SystemExit as end:
            status = end.code
        except OSError as error:  # of `--help`, which is printed before any command is called
            failed = error
        unwritten = _flush()
        if failed := failed or unwritten:
            status = status or _told(failed)
        sys.exit(status)  # type: ignore[arg-type]


def _flush() -> OSError | None:
    failed = None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            failed = error
            _discard(number)
    return failed


def _discard(number: int) -> None:
    """What is still buffered: the interpreter would try once more, and end with a status of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _told(failed: OSError) -> int:
    if isinstance(failed, BrokenPipeError):
        return READER_HAS_GONE
    where = failed.filename or "standard output"
    try:
        print(f"Error: cannot write {where}: {failed.strerror or failed}", file=sys.stderr, flush=True)
    except OSError:
        _discard(2)
    return CANNOT_WRITE


def _open_closed_streams() -> None:
    """A file that is opened later must not become one of these; ranks inherit them. Without a standard output nothing can be told."""
    closed = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in closed:
        opened = os.open(os.devnull, os.O_RDWR)
        os.dup2(opened, number)
        os.set_inheritable(number, True)
    sys.stdin = sys.stdin or open(0)
    sys.stderr = sys.stderr or open(2, "w")
    if 1 in closed:
        sys.stdout = open(1, "w")
        print("Error: standard output is closed: name a file, or /dev/null", file=sys.stderr, flush=True)
        sys.exit(CANNOT_WRITE)

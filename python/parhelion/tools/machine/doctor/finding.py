"""What a probe found."""

import os
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Whether something works here, why or why not, what could be done, and who needs it."""

    name: str
    works: bool
    detail: str
    remedy: str | None = None
    needed_for: str = ""


def in_child(work: Callable[[], str]) -> str:
    """What `work` returns in a child process; an exception there, or the child's death, comes back as OSError."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _report(writer, work)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status or not answer.startswith("+"):
        raise OSError(answer[1:] or f"the child ended with status {status}")
    return answer[1:]


def _report(writer: int, work: Callable[[], str]) -> None:
    try:
        os.write(writer, f"+{work()}".encode())
    except BaseException as error:  # whatever it is, the parent tells it; the child must not return
        os.write(writer, f"-{error}".encode())
    os._exit(0)

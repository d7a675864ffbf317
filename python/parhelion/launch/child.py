"""Short commands that are asked for something, such as a version. What starts ranks is a `Job`, under a keeper."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .ending import held


@contextmanager
def child(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A command with text streams and `subprocess.Popen`'s options. It ends with the context.

    A signal that ends us is raised once the command can be ended, too: inside `Popen` it would be running already, and nobody's.
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
    """What a command answers. Raises OSError where it cannot be started, `subprocess.TimeoutExpired` after `seconds`."""
    with child(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, errors = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

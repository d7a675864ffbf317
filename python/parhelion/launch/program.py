"""Which Python runs a program that is written in it, and how; one thread per rank, since ranks already use every core."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def single_threaded(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Variables to add so that each rank has one thread, and a note; those already set are kept."""
    added = {name: "1" for name in VARIABLES if name not in env}
    kept = [f"{name}={env[name]}" for name in VARIABLES if name in env]
    notes = [f"{', '.join(kept)} kept from the environment"] if kept else []
    if added:
        notes.insert(0, f"{', '.join(added)} set to 1")
    return added, notes


TAKE_A_WORD = ("-W", "-X", "--check-hash-based-pycs")
NO_SCRIPT = ("-m", "-c", "-")


def program_words(words: Sequence[str]) -> list[str]:
    """`words` as they are to be started: ``x.py``, and ``python`` without a path, mean the Python that runs here.

    Another one that comes first on PATH would not have the packages of this one. A Python with a path is taken as it is.
    """
    program = words[0]
    if program in ("python", "python3"):
        return [sys.executable, *words[1:]]
    if program.endswith(".py"):
        return [sys.executable, *words]
    return list(words)


def python_words(words: Sequence[str]) -> list[str] | None:
    """The same beginning with a Python, where the program is Python's: a script is known by its first line, too. None for others."""
    named = program_words(words)
    if _is_python(named[0]):
        return named
    interpreter = _interpreter(Path(words[0]))
    return program_words([*interpreter, *words]) if interpreter and _is_python(interpreter[0]) else None


def ends_together(words: Sequence[str]) -> list[str]:
    """As ``python -m mpi4py`` starts it: an exception on one rank ends all, which would wait for that rank otherwise.

    `words` begin with a Python. It stays as it is where it has no mpi4py, and where it is given no program.
    """
    at = _program_at(words)
    if at >= len(words) or words[at : at + 2] in (["-m", "mpi4py"], ["-m", "mpi4py.run"]) or not importlib.util.find_spec("mpi4py"):
        return list(words)
    return [*words[:at], "-m", "mpi4py", *words[at:]]


def script_of(words: Sequence[str]) -> Path | None:
    """The file that these words, which begin with a Python, run; None for a module, for code, and for none."""
    at = _program_at(words)
    return Path(words[at]) if at < len(words) and words[at] not in NO_SCRIPT else None


def _program_at(words: Sequence[str]) -> int:
    """Where Python's own options end."""
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in NO_SCRIPT:
        at += 2 if words[at] in TAKE_A_WORD else 1
    return at


def _is_python(program: str) -> bool:
    return Path(program).name.rstrip("0123456789.") == "python"


def _interpreter(script: Path) -> list[str]:
    """What a script's first line says is to run it; ``env`` looks along PATH."""
    try:
        with script.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return []
    words = shlex.split(first[2:].decode(errors="replace")) if first.startswith(b"#!") else []
    return words[1:] if words and Path(words[0]).name == "env" else words

"""Which Python runs a program that is written in it."""

import sys
from collections.abc import Sequence


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

"""Environment variables to record (variables.txt) and patterns of secrets (secrets.txt)."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEFT_OUT = "(left out)"


def variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that configure MPI, networks, threads or memory, without secrets."""
    return {name: environ[name] for name in sorted(environ) if known(name) and not secret_name(name) and not secret_value(environ[name])}


def secret_name(name: str) -> bool:
    """Whether a name suggests a secret."""
    return any(pattern.search(name) for pattern in _secrets("name"))


def secret_value(value: str) -> bool:
    """Whether a value resembles or contains a secret: `https://user:password@host`."""
    return any(pattern.search(value) for pattern in _secrets("value"))


def secret_labels(labels: Mapping[str, object]) -> list[str]:
    return [name for name, value in labels.items() if secret_name(name) or secret_value(str(value))]


def without_secrets(words: Sequence[str]) -> list[str]:
    """Replace secrets in a command line by `(left out)`: `--token abc`, `KEY=abc`, `https://a:b@host`."""
    shown: list[str] = []
    hidden = False
    for word in words:
        name, equals, value = word.partition("=")
        if hidden and not word.startswith("-"):
            shown.append(LEFT_OUT)
        elif equals and (secret_name(name) or secret_value(value)) and not secret_value(name):
            shown.append(f"{name}={LEFT_OUT}")
        else:
            shown.append(LEFT_OUT if secret_value(word) else word)
        hidden = word.startswith("-") and not equals and secret_name(word)
    return shown


@cache
def known(name: str) -> bool:
    """Whether variables.txt lists a variable and does not exclude it."""
    words = [word for line in _lines("variables.txt") for word in line.split()]
    return any(fnmatchcase(name, word) for word in words) and not any(fnmatchcase(f"!{name}", word) for word in words)


@cache
def _secrets(kind: str) -> list[re.Pattern[str]]:
    found = (line.split(maxsplit=1) for line in _lines("secrets.txt"))
    return [re.compile(pattern, re.IGNORECASE) for which, pattern in found if which == kind]


def _lines(file: str) -> Iterable[str]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return (line for line in lines if line and not line.startswith("#"))

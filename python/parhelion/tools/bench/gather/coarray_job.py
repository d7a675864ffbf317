"""A job for the coarray program: Fortran namelists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...documents import CaseResult
from .coarrays import CoarrayBuild, Way

WORD = 4
LONGEST = 2000  # characters of a name there


def words_of(case: dict[str, Any]) -> int | None:
    """32-bit words per cell, or None where cells are not made of such."""
    size = np.dtype(case["element"]).itemsize * int(case["components"])
    return size // WORD if size % WORD == 0 else None


def job_text(
    record: Path, launch: int, case: CaseResult, build: CoarrayBuild, ways: Sequence[Way], repetitions: int, least_s: float, budget_s: float
) -> str:
    """One case in several ways."""
    head = {"record": str(record), "launch": launch, "repetitions": repetitions, "least_s": least_s, "budget_s": budget_s,
            "cases": 1, "ways": len(ways)}  # fmt: skip
    params = msgspec.json.encode(case.params).decode()
    groups = [_group("job_", head), _group("case_", {"dataset": case.params["dataset"], "name": case.name, "params": params,
                                                     "words": words_of(case.params)})]  # fmt: skip
    groups += [_group("way_", {"contender": build.contender(way), "kind": way.kind, "kept": way.kept, "images": way.images}) for way in ways]
    return "\n".join(groups) + "\n"


def _group(name: str, values: dict[str, Any]) -> str:
    return f"&{name} {', '.join(f'{key}={_literal(value)}' for key, value in values.items())} /"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "T" if value else "F"
    if not isinstance(value, str):
        return repr(value)
    if len(value) > LONGEST:
        raise ValueError(f"'{value[:40]}…' has more than {LONGEST} characters")
    return "'" + value.replace("'", "''") + "'"

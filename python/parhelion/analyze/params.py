"""Parameters of cases: which vary, in which order cases stand, how values are written; and what a benchmark's figures are of."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar

from .words import product
from .results import CaseResult

T = TypeVar("T")
# The order in which people look for them; others follow as they come.
FIRST = ("test", "app", "dataset", "ranks", "grid", "extent", "halo", "fields", "size", "vdim", "element", "components")


def text(value: Any) -> str:
    """A parameter's value as people write it: `64×64×64`, the last part of a path."""
    if value is None:
        return "–"  # a case that has no such parameter
    if isinstance(value, list):
        return product(value)
    if isinstance(value, str) and "/" in value:
        return PurePath(value).name
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def varying(cases: Sequence[CaseResult]) -> list[str]:
    """The parameters in which the cases differ, or the first known one when there is but one case."""
    names = _names(cases)
    differing = [name for name in names if len({text(case.params.get(name)) for case in cases}) > 1]
    return differing or names[:1]


def constant(cases: Sequence[CaseResult]) -> dict[str, str]:
    """The parameters that all cases share."""
    if not cases:
        return {}
    changing = varying(cases)
    return {name: text(cases[0].params[name]) for name in _names(cases) if name not in changing and name in cases[0].params}


def in_order(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Cases by their varying parameters, numbers as numbers, names with numbers in them likewise."""
    names = varying(cases)
    return sorted(cases, key=lambda case: [_key(case.params.get(name)) for name in names])


def _names(cases: Sequence[CaseResult]) -> list[str]:
    seen = dict.fromkeys(name for case in cases for name in case.params)
    return [*(name for name in FIRST if name in seen), *(name for name in seen if name not in FIRST)]


def _key(value: Any) -> list[tuple[int, float, str]]:
    parts = re.split(r"(\d+\.?\d*)", text(value))
    return [(0, float(part), "") if part[:1].isdigit() else (1, 0.0, part) for part in parts if part]


def case_label(case: CaseResult, cases: Sequence[CaseResult]) -> str:
    """A case by the parameters that tell it from the others."""
    return ", ".join(f"{name} {text(case.params.get(name))}" for name in varying(cases))


def some(values: Sequence[T], most: int) -> list[T]:
    """At most `most` of the values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


class Wording(NamedTuple):
    """`title` of a page; `of` is what a time is the time of; `base` is what ratios are taken against."""

    title: str
    of: str = "exchange"
    base: str = "the best hand-written baseline"
    compared: bool = True


WORDING = {
    "halo": Wording("Halo exchange"),
    "gather": Wording("Index-map gather"),
    "alltoall": Wording("Alltoall", "call", "MPI_Alltoall"),
    "ghosts": Wording("Ghost rows"),
    "osu": Wording("OSU Micro-Benchmarks"),
    "imb": Wording("Intel MPI Benchmarks"),
    "apps": Wording("Whole applications", "step"),
    "setup": Wording("Set-up", "stage", "", compared=False),
}


def wording(benchmark: str) -> Wording:
    """The words for a benchmark; for one that is not known, its name."""
    return WORDING.get(benchmark, Wording(benchmark))

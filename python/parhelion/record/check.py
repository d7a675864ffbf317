"""What the schema leaves open: the types of parameters and facts that are known by name."""

import math
from collections.abc import Callable
from typing import Any

from ..base.numbers import shortened
from .model import Case, Launch, MOST, MOST_SECONDS

MOST_DEPTH = 8

Rule = tuple[Callable[[Any], bool], str]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_SECONDS


def _is_sides(value: Any) -> bool:
    sides = isinstance(value, list) and 1 <= len(value) <= 4 and all(_is_whole(side) and side >= 1 for side in value)
    return sides and math.prod(value) <= MOST


WHOLE: Rule = (_is_whole, f"a whole number from 0 to {MOST}")
SIDES: Rule = (_is_sides, "1 to 4 whole numbers of at least 1")
EXTENT: Rule = (lambda value: _is_whole(value) or _is_sides(value), "a whole number, or one for each dimension")
TEXT: Rule = (lambda value: isinstance(value, str), "text")
PERIODIC: Rule = (
    lambda value: isinstance(value, bool) or (isinstance(value, list) and all(isinstance(each, bool) for each in value)),
    "true or false, or one for each dimension",
)
SECONDS: Rule = (_is_seconds, f"seconds from 0 to {MOST_SECONDS:g}")

PARAMS: dict[str, Rule] = {
    "ranks": WHOLE, "grid": SIDES, "extent": EXTENT, "halo": WHOLE, "fields": WHOLE, "components": WHOLE, "size": WHOLE,
    "vdim": WHOLE, "rows_claimed": WHOLE, "rows_unique": WHOLE, "rows_moved": WHOLE, "rows_moved_total": WHOLE,
    "element": TEXT, "dataset": TEXT,
    "pattern": TEXT, "neighbors": TEXT, "order": TEXT, "transport": TEXT, "periodic": PERIODIC,
}  # fmt: skip
COLD: dict[str, Rule] = {"size": WHOLE, "first_s": SECONDS}


def complaint(line: Any) -> str | None:
    """What of a line no command could use; `None` when all is well. Parameters that nobody knows may be anything flat."""
    match line:
        case Case():
            return _of_case(line)
        case Launch():
            return _of_launch(line)
    return None


def _of_case(case: Case) -> str | None:
    if any(len(samples) != len(case.samples) for samples in case.samples_by_rank):
        return "samples_by_rank and samples differ in length"
    if {len(case.skew_s), len(case.last_rank)} not in ({0}, {len(case.samples)}):
        return "skew_s, last_rank and samples differ in length"
    return _first("params", case.params, PARAMS) or _too_deep("params", case.params)


def _of_launch(launch: Launch) -> str | None:
    cold = launch.cold_alltoall
    return (_first("cold_alltoall", cold, COLD) if cold else None) or _too_deep("the launch", launch.mpi)


def _first(where: str, found: dict[str, Any], rules: dict[str, Rule]) -> str | None:
    for name, (holds, what) in rules.items():
        if name in found and not holds(found[name]):
            return f"{name} in {where} is {shortened(str(found[name]))}, not {what}"
    return None


def _too_deep(where: str, value: Any, depth: int = MOST_DEPTH) -> str | None:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth == 0:
        return f"{where} is nested deeper than {MOST_DEPTH} levels"
    return next((why for each in inner if (why := _too_deep(where, each, depth - 1))), None)

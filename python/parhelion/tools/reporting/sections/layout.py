"""Heat maps: one cell per case, coloured by how many times as fast as the best baseline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...documents import CaseResult
from ...documents.params import text, varying
from .headline import own_speeds

FULL_COLOR = math.log(2)  # twice or half as fast takes the full color
PLANES = (("halo", "fields"), ("dataset", "element"), ("dataset", "components"))


@dataclass(frozen=True)
class Cell:
    """One case: its speed, and the share of the color from -1 (half as fast) to 1 (twice as fast)."""

    speed: float | None
    share: float
    label: str


@dataclass(frozen=True)
class HeatMap:
    """Speeds of one contender over the plane of two parameters."""

    contender: str
    row_name: str
    column_name: str
    columns: list[str]
    rows: dict[str, list[Cell]]


def heat_maps(cases: Sequence[CaseResult]) -> list[HeatMap]:
    """One map per contender of the library, where two parameters span a plane that the cases fill once."""
    plane = next((plane for plane in PLANES if set(plane) == set(varying(cases))), None)
    return [_heat_map(cases, name, *plane) for name in own_speeds(cases)] if plane else []


def _heat_map(cases: Sequence[CaseResult], contender: str, row_name: str, column_name: str) -> HeatMap:
    columns = list(dict.fromkeys(text(case.params.get(column_name)) for case in cases))
    by_place = {(text(case.params.get(row_name)), text(case.params.get(column_name))): case for case in cases}
    rows = dict.fromkeys(row for row, _ in by_place)
    cells = {row: [_cell(by_place.get((row, column)), contender) for column in columns] for row in rows}
    return HeatMap(contender, row_name, column_name, columns, cells)


def _cell(case: CaseResult | None, contender: str) -> Cell:
    speed = case.speed(contender) if case else None
    if case is None or speed is None:
        return Cell(None, 0.0, "not measured")
    low, high = case.speed_interval(contender)
    span = f", 95 % interval {low:.2f}–{high:.2f}" if low is not None and high is not None else ", no interval: too few samples"
    best = case.best_baseline.contender if case.best_baseline else ""
    share = max(-1.0, min(1.0, math.log(speed) / FULL_COLOR))
    return Cell(speed, share, f"{speed:.2f} times as fast as {best}{span}")

"""How often `compare` is right, measured on one's own runs.

Launches of a run, or of several, are put into two sides by time. Nothing changed between them, so a difference found is
a false one (A/A). With one side's samples multiplied by a planted factor, the same sides tell how often a change of that size is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..record.model import RecordError
from .verdict import DEFAULT_RULES, DIFFERENT, Rules, Verdict, difference, judge
from .states import Launch
from .comparison import starts as starts_of
from .sets import RecordSet

Sides = tuple[list[Launch], list[Launch]]
ONE_AFTER_THE_OTHER, IN_TURN = "one after the other", "in turn, pair by pair"


@dataclass(frozen=True)
class Calibration:
    """Shares over all splits of one design; `launches` is the number on each side."""

    design: str
    splits: int
    launches: int
    cases: int
    planted: float
    false_pairs: float
    false_cases: float
    found_pairs: float
    found_cases: float


def calibrate(
    records: RecordSet, planted: float = 1.05, launches: int | None = None, rules: Rules = DEFAULT_RULES
) -> list[Calibration]:
    """Both designs on all stretches of consecutive launches; raises `RecordError` with fewer than four launches per case."""
    cases = starts_by_case(records)
    available = min(map(len, cases), default=0)
    size = launches or available // 2
    if size < 2 or 2 * size > available:
        raise RecordError(f"{records.name} has {available} launches per case, {max(4, 2 * size)} are needed: use --launches, or measure more")
    return [_calibration(design, cases, size, planted, rules) for design in (ONE_AFTER_THE_OTHER, IN_TURN)]


def starts_by_case(records: RecordSet) -> list[list[Launch]]:
    """The launches of every case and contender whose values were right, in the order of time."""
    return list(starts_of(records).values())


def splits(starts: list[Launch], size: int, design: str) -> list[Sides]:
    """The sides of every stretch of 2 × `size` launches, each with either side as the first."""
    stretches = [starts[first : first + 2 * size] for first in range(len(starts) - 2 * size + 1)]
    return [sides[::order] for each in stretches for sides in [_sides(each, design)] for order in (1, -1)]  # type: ignore[misc]


def _sides(stretch: list[Launch], design: str) -> Sides:
    half = len(stretch) // 2
    if design == ONE_AFTER_THE_OTHER:
        return stretch[:half], stretch[half:]
    numbered = [launch._replace(pair=("pairs", number // 2)) for number, launch in enumerate(stretch)]
    return numbered[::2], numbered[1::2]


def _calibration(design: str, cases: Sequence[list[Launch]], size: int, planted: float, rules: Rules) -> Calibration:
    by_split = list(zip(*(splits(case, size, design) for case in cases), strict=False))  # cases may lack launches
    false = np.array([judged(sides, 1.0, DIFFERENT, rules) for sides in by_split])
    found = np.array([judged(sides, planted, (Verdict.SLOWER,), rules) for sides in by_split])
    shares = (false.any(axis=1).mean(), false.mean(), found.any(axis=1).mean(), found.mean())
    return Calibration(design, len(by_split), size, len(cases), planted, *map(float, shares))


def judged(cases: Sequence[Sides], factor: float, wanted: Sequence[Verdict], rules: Rules = DEFAULT_RULES, probe: float = 1.0) -> list[bool]:
    """Whether each case, with B slowed by that factor, has one of these verdicts; all cases are one family."""
    found = judge([difference(first, slowed(second, factor, probe)) for first, second in cases], rules)
    return [each.verdict in wanted for each in found]


def slowed(side: list[Launch], factor: float, probe: float = 1.0) -> list[Launch]:
    """The same with every sample so many times as long; `probe` is what another machine does to its probe."""
    return [launch._replace(samples=factor * launch.samples, probe=probe * launch.probe) for launch in side]

"""Did B change against A? The launch is the unit, because samples of one launch are not independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .interval import CONFIDENCE, NO_INTERVAL, Interval
from .shift import Shift, borrowed, launch_shift, sample_shift
from .states import Launch, without_states

MOST_PAIRS = 300  # samples of a side that enter the median of all ratios
LEAST_SAMPLES = 3  # per side, where samples are the units

Side = Sequence[Launch]
Logs = tuple[list[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True)
class Difference:
    """B against A. `ratio` above 1: B takes longer. Without enough samples the figures are `None`."""

    ratio: float | None = None
    interval: Interval = NO_INTERVAL
    p_launches: float | None = None
    p_mann_whitney: float | None = None
    cliffs_delta: float | None = None
    hodges_lehmann: float | None = None
    units: tuple[int, int] = (0, 0)
    single_launch: bool = False

    @property
    def p(self) -> float | None:
        """Both tests must find a difference, so the larger p counts."""
        known = [p for p in (self.p_launches, self.p_mann_whitney) if p is not None]
        return max(known) if len(known) == 2 else None


def differences(pairs: Sequence[tuple[Side, Side]], confidence: float = CONFIDENCE) -> list[Difference]:
    """Compare pairs of sides, measured in the same launches, each given launch by launch.

    The middle of each launch (on logarithms, the states of the machine taken out) is one value in a t test, whose
    interval becomes that of the ratio. Where a side has but one launch, samples are the values instead: that says
    nothing about what another launch would have drawn, and `single_launch` tells so.
    """
    logs = [without_states(*pair) for pair in pairs]
    single = [min(map(len, pair)) < 2 for pair in pairs]
    shifts = [_shift(*each) for each in zip(logs, single, strict=True)]
    sharper = iter(borrowed([shift for shift, alone in zip(shifts, single, strict=True) if shift and not alone]))
    shifts = [next(sharper) if shift and not alone else shift for shift, alone in zip(shifts, single, strict=True)]
    return [_difference(*each, confidence) for each in zip(logs, shifts, single, strict=True)]


def difference(first: Side, second: Side, confidence: float = CONFIDENCE) -> Difference:
    """`differences` of one pair."""
    return differences([(first, second)], confidence)[0]


def _shift(logs: Logs, single: bool) -> Shift | None:
    if single:
        if min(sum(map(len, side)) for side in logs) < LEAST_SAMPLES:
            return None
        return sample_shift(*(np.concatenate(side) for side in logs))
    return launch_shift(*logs) if min(map(len, logs)) >= 2 else None


def _difference(logs: Logs, shift: Shift | None, single: bool, confidence: float) -> Difference:
    counts = (len(logs[0]), len(logs[1]))
    if shift is None:
        return Difference(units=counts, single_launch=single)
    first, second = (np.concatenate(side) for side in logs)
    delta, p_mann_whitney = _mann_whitney(first, second, shift.inflation)
    return Difference(
        ratio=float(np.exp(shift.shift)),
        interval=shift.interval(confidence),
        p_launches=shift.p,
        p_mann_whitney=p_mann_whitney,
        cliffs_delta=delta,
        hodges_lehmann=_hodges_lehmann(first, second),
        units=counts,
        single_launch=single,
    )


def _mann_whitney(first: np.ndarray, second: np.ndarray, inflation: float) -> tuple[float, float]:
    """Cliff's delta (1: every B sample is longer than every A sample) and the p value."""
    from scipy import stats

    test = stats.mannwhitneyu(second, first)
    p = float(test.pvalue)
    if inflation > 1 and p > 0:
        p = float(2 * stats.norm.sf(stats.norm.isf(p / 2) / inflation))
    return float(2 * test.statistic / (len(first) * len(second)) - 1), p


def _hodges_lehmann(first: np.ndarray, second: np.ndarray) -> float:
    """The median of all ratios B/A."""
    rng = np.random.default_rng(0)
    first, second = (side if len(side) <= MOST_PAIRS else rng.choice(side, MOST_PAIRS) for side in (first, second))
    return float(np.exp(np.median(second[:, None] - first[None, :])))

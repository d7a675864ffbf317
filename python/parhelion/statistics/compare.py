"""Did B change against A? The launch is the unit, because samples of one launch are not independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .interval import CONFIDENCE, NO_INTERVAL, Interval
from .states import Launch, without_states

TRIM = 0.25  # the mean of the middle half: nearly as sharp as a mean, nearly as robust as a median
MOST_PAIRS = 300  # samples of a side that enter the median of all ratios


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


def difference(first: Sequence[Launch], second: Sequence[Launch], confidence: float = CONFIDENCE) -> Difference:
    """Compare two sides, each given launch by launch.

    The middle of each launch (on logarithms, the states of the machine taken out) is one value in a t test, whose
    interval becomes that of the ratio. Where a side has but one launch, samples are compared instead, as if there were
    as many fewer as they resemble their predecessors (Yuen's test): that says nothing about what another launch would
    have drawn, and `single_launch` tells so.
    """
    single = min(len(first), len(second)) < 2
    logs = without_states(first, second)
    units = [[np.concatenate(side)] if single and side else side for side in logs]
    counts = (len(logs[0]), len(logs[1]))
    if min(map(_size, logs)) < 2 or (not single and min(counts) < 2):
        return Difference(units=counts, single_launch=single)
    test = _sample_test(*(side[0] for side in units)) if single else _launch_test(*logs)
    return _difference(logs, test, counts, single, confidence)


def _size(side: Sequence[np.ndarray]) -> int:
    return sum(map(len, side))


def _difference(logs: tuple, test: Test, counts: tuple[int, int], single: bool, confidence: float) -> Difference:
    first, second = (np.concatenate(side) for side in logs)
    delta, p_mann_whitney = _mann_whitney(first, second, test.inflation)
    return Difference(
        ratio=float(np.exp(test.shift)),
        interval=test.interval(confidence),
        p_launches=test.p,
        p_mann_whitney=p_mann_whitney,
        cliffs_delta=delta,
        hodges_lehmann=_hodges_lehmann(first, second),
        units=counts,
        single_launch=single,
    )


class Test(NamedTuple):
    """A t test: the shift of logarithms, its standard error, degrees of freedom, what resemblance inflated it by."""

    shift: float
    error: float
    freedom: float
    inflation: float = 1.0

    @property
    def p(self) -> float:
        from scipy import stats

        if self.error == 0:  # nothing varies, as with a simulated clock
            return float(self.shift == 0)
        return float(2 * stats.t.sf(abs(self.shift) / self.error, self.freedom))

    def interval(self, confidence: float) -> Interval:
        """The interval of the ratio."""
        from scipy import stats

        half = self.error * stats.t.ppf((1 + confidence) / 2, self.freedom) if self.error else 0.0
        return Interval(float(np.exp(self.shift - half)), float(np.exp(self.shift + half)))


def _launch_test(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> Test:
    middles = [np.array([_middle(launch) for launch in side]) for side in (first, second)]
    counts = [len(side) for side in middles]
    freedom = sum(counts) - 2
    pooled = sum(((side - side.mean()) ** 2).sum() for side in middles) / freedom
    error = float(np.sqrt(pooled * (1 / counts[0] + 1 / counts[1])))
    return Test(float(middles[1].mean() - middles[0].mean()), error, freedom)


def _sample_test(first: np.ndarray, second: np.ndarray) -> Test:
    from scipy import stats

    shift = _middle(second) - _middle(first)
    with np.errstate(divide="ignore", invalid="ignore"):
        yuen = stats.ttest_ind(second, first, trim=TRIM, equal_var=False)
    error = abs(shift / yuen.statistic) if np.isfinite(yuen.statistic) and yuen.statistic else 0.0
    inflation = max(_inflation(first), _inflation(second))
    freedom = yuen.df if np.isfinite(yuen.df) else 1.0
    return Test(shift, float(error * inflation), max(float(freedom) / inflation**2, 1.0), inflation)


def _middle(samples: np.ndarray) -> float:
    cut = int(TRIM * len(samples))  # scipy's trim_mean does the same, at forty times the cost
    return float(np.sort(samples)[cut : len(samples) - cut].mean())


def _inflation(samples: np.ndarray) -> float:
    """By how much the error of a mean grows because each sample resembles the one before it (AR(1), on ranks)."""
    from scipy import stats

    if len(samples) < 4 or np.ptp(samples) == 0:
        return 1.0
    ranks = stats.rankdata(samples)
    resemblance = float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1]) if np.ptp(ranks[:-1]) and np.ptp(ranks[1:]) else 0.0
    resemblance = min(max(resemblance, 0.0), 0.95)
    return float(np.sqrt((1 + resemblance) / (1 - resemblance)))


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

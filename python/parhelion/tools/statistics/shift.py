"""The shift between two sides, with its error: launches as units, or samples where there is but one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .interval import Interval

TRIM = 0.25  # the mean of the middle half: nearly as sharp as a mean, nearly as robust as a median
PRIOR_FREEDOM = 2.0
LEAST_FAMILY = 4


class Shift(NamedTuple):
    """By how much the logarithms of B lie above those of A, as a t test sees it (Yuen 1974).

    `variance` is that of one unit, `weight` what it is multiplied with for that of the shift; `inflation` tells how
    much more a mean errs than it would with independent samples.
    """

    shift: float
    variance: float
    weight: float
    freedom: float
    inflation: float = 1.0

    @property
    def error(self) -> float:
        return float(np.sqrt(self.variance * self.weight)) * self.inflation

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


def launch_shift(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> Shift:
    """The shift with one value per launch: the middle of its samples. Needs two launches on each side."""
    return _shift(*(np.array([middle(launch) for launch in side]) for side in (first, second)))


def sample_shift(first: np.ndarray, second: np.ndarray) -> Shift:
    """The shift with samples as units, as if there were as many fewer as they resemble their predecessors."""
    inflation = max(_inflation(first), _inflation(second))
    found = _shift(first, second)
    return found._replace(inflation=inflation, freedom=max(found.freedom / inflation**2, 1.0))


def middle(values: np.ndarray) -> float:
    """The mean of the middle half."""
    cut = int(TRIM * len(values))  # scipy's trim_mean does the same, at forty times the cost
    return float(np.sort(values)[cut : len(values) - cut].mean())


def borrowed(shifts: Sequence[Shift]) -> list[Shift]:
    """The same shifts, each variance drawn a little towards the median of all.

    Few launches tell their variance badly; cases measured together vary alike. The median counts as much as
    `PRIOR_FREEDOM` degrees of freedom (as in the moderated t test of Smyth 2004, with a fixed small prior, because
    cases share launches). Families of fewer than four are left as they are.
    """
    if len(shifts) < LEAST_FAMILY:
        return list(shifts)
    typical = float(np.median([each.variance for each in shifts]))
    return [_drawn(each, typical) for each in shifts]


def _drawn(shift: Shift, typical: float) -> Shift:
    freedom = shift.freedom + PRIOR_FREEDOM
    return shift._replace(variance=(shift.variance * shift.freedom + typical * PRIOR_FREEDOM) / freedom, freedom=freedom)


def _shift(first: np.ndarray, second: np.ndarray) -> Shift:
    kept = [len(side) - 2 * int(TRIM * len(side)) for side in (first, second)]
    freedom = sum(kept) - 2
    variance = sum(_winsorized_squares(side) for side in (first, second)) / freedom
    return Shift(middle(second) - middle(first), variance, 1 / kept[0] + 1 / kept[1], freedom)


def _winsorized_squares(values: np.ndarray) -> float:
    cut = int(TRIM * len(values))
    ordered = np.sort(values)
    ordered[:cut], ordered[len(values) - cut :] = ordered[cut], ordered[len(values) - cut - 1]
    return float(((ordered - ordered.mean()) ** 2).sum())


def _inflation(samples: np.ndarray) -> float:
    """By how much the error of a mean grows because each sample resembles the one before it (AR(1), on ranks)."""
    from scipy import stats

    if len(samples) < 4:
        return 1.0
    ranks = stats.rankdata(samples)
    if not (np.ptp(ranks[:-1]) and np.ptp(ranks[1:])):
        return 1.0
    resemblance = float(np.clip(np.corrcoef(ranks[:-1], ranks[1:])[0, 1], 0.0, 0.95))
    return float(np.sqrt((1 + resemblance) / (1 - resemblance)))

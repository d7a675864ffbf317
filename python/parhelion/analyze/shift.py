"""What an interval is; the shift between two sides of launches, with its error: Welch's t and the paired t, on trimmed means."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
TRIM = 0.1  # from each end, so from ten values on: with fewer, a launch taken away costs more than an outlier does
MOST_FREEDOM = 1.5
BATCHES = 5  # of the samples of a single launch: few enough to be long, and to differ as the machine does over some time
MIDDLE = 0.25  # of the samples of a launch: nearly as sharp as a mean, nearly as robust as a median


class Method(StrEnum):
    """How an interval was found, in words for reports."""

    ORDER = "order statistics of the samples of one launch"
    LAUNCHES = "Student's t over the logarithms of the launches' medians"
    RANGE = "the range of the launches' medians, some of which are 0"
    RATIOS = "Student's t over the logarithms of the ratio in each launch"
    BATCHES = f"Student's t over the logarithms of the ratio in {BATCHES} batches of one launch"
    CHOSEN = ", in which the best of several is chosen by the other half of the launches"


class Interval(NamedTuple):
    """Both ends of a confidence interval, in the unit of the samples; `None` where no interval can be given."""

    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low

    def with_inside(self, value: float) -> Interval:
        """The interval, widened where needed to hold the figure that it stands beside."""
        return self if self.low is None or self.high is None else Interval(min(self.low, value), max(self.high, value))


NO_INTERVAL = Interval(None, None)


class Center(NamedTuple):
    """A trimmed mean, the square of its standard error, and the degrees of freedom of that."""

    mean: float
    squared_error: float
    freedom: int


class Shift(NamedTuple):
    """By how much the logarithms of B lie above those of A, as a t test sees it."""

    shift: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """How probable a shift as large as this is where nothing differs."""
        return self.p_beyond(0.0)

    def p_beyond(self, most: float) -> float:
        """The same where the sides differ by `most` at most, one way or the other."""
        from scipy import special

        if self.error == 0:  # nothing varies, as with a simulated clock
            return float(abs(self.shift) <= most)
        ends = (most - abs(self.shift), -most - abs(self.shift))
        return min(1.0, float(sum(special.stdtr(self.freedom, end / self.error) for end in ends)))

    def interval(self, confidence: float) -> Interval:
        """The interval of the ratio."""
        from scipy import special

        half = self.error * special.stdtrit(self.freedom, (1 + confidence) / 2) if self.error else 0.0
        return Interval(float(np.exp(self.shift - half)), float(np.exp(min(self.shift + half, 700.0))))


def center(values: np.ndarray) -> Center:
    """The trimmed mean of at least two values, with the error that follows from winsorized squares (Tukey and McLaughlin 1963)."""
    count, cut = len(values), int(TRIM * len(values))
    kept = count - 2 * cut
    ordered = np.sort(values)
    mean = float(ordered[cut : count - cut].mean())
    ordered[:cut], ordered[count - cut :] = ordered[cut], ordered[count - cut - 1]
    squares = float(((ordered - ordered.mean()) ** 2).sum())
    return Center(mean, squares / (kept * (kept - 1)), kept - 1)


def independent(first: np.ndarray, second: np.ndarray) -> Shift:
    """The shift between two sides of at least two values each: Yuen's statistic for unequal variances (1974), untrimmed Welch's (1947)."""
    return _between(center(first), center(second))


def _between(first: Center, second: Center) -> Shift:
    """The degrees of freedom are Welch's, but at most `MOST_FREEDOM` times those of the smaller side.

    Welch's alone call two launches against ten different in up to 12 % at 5 %. Those of the smaller side alone never err (Mickey and Brown 1966),
    but cost much where variances are about equal.
    """
    squares = first.squared_error + second.squared_error
    least = min(first.freedom, second.freedom)
    shares = first.squared_error**2 / first.freedom + second.squared_error**2 / second.freedom
    freedom = min(squares**2 / shares, MOST_FREEDOM * least) if shares else least
    return Shift(second.mean - first.mean, float(np.sqrt(squares)), float(freedom))


def stratified(first: np.ndarray, second: np.ndarray) -> Shift:
    """The shift between two tables of launches × states, NaN where a launch saw too little of a state: the mean over states, the more launches
    tell of one the more it counts.

    What states have in common within a launch is counted: the error is that of each launch's influence on the sum. Each state needs two launches on
    each side. With one state this is Welch's t, untrimmed.
    """
    counts = np.array([np.isfinite(side).sum(axis=0) for side in (first, second)])
    weights = 1 / (1 / counts).sum(axis=0)
    weights /= weights.sum()
    return _between(*(_sum_over_states(side, weights) for side in (first, second)))


def _sum_over_states(side: np.ndarray, weights: np.ndarray) -> Center:
    means, counts = np.nanmean(side, axis=0), np.isfinite(side).sum(axis=0)
    influence = np.nansum((side - means) * weights / np.sqrt(counts * (counts - 1)), axis=1)
    freedom = max(len(side) - len(weights), int(counts.min()) - 1)
    return Center(float(means @ weights), float(influence @ influence), freedom)


def paired(differences: np.ndarray) -> Shift:
    """The shift from at least two differences of pairs: what met both of a pair has cancelled."""
    found = center(differences)
    return Shift(found.mean, float(np.sqrt(found.squared_error)), found.freedom)


def middle(values: np.ndarray) -> float:
    """The mean of the middle half."""
    cut = int(MIDDLE * len(values))  # scipy's trim_mean does the same, at forty times the cost
    return float(np.sort(values)[cut : len(values) - cut].mean())

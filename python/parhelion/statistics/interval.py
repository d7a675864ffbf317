"""The confidence interval of a median, from one launch or from several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .resample import SEED, draw_launches, resampled_medians

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends of a confidence interval, in the unit of the samples; `None` where no interval can be given."""

    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


NO_INTERVAL = Interval(None, None)


def median_interval(launches: Sequence[np.ndarray], confidence: float = CONFIDENCE) -> Interval:
    """The interval of the median of all samples.

    One launch: by order statistics (binomial), free of any assumption about the distribution; it needs 6 samples
    for 95 %. Several launches: by resampling launches, then samples within them. With fewer than about five launches
    that interval is optimistic, since few launches show little of how launches differ. Samples that would be too few
    from one launch are too few from several.
    """
    if not enough(launches, confidence):
        return NO_INTERVAL
    if len(launches) > 1:
        return _between_launches(launches, confidence)
    return _order_statistics(launches[0], confidence)


def enough(launches: Sequence[np.ndarray], confidence: float = CONFIDENCE) -> bool:
    """Whether so many samples can tell where their median lies, were they all independent.

    All of them lie on the same side of it by chance once in 2 ** (count - 1); resampling would not know that, and would
    give two samples an interval that holds the median half of the time.
    """
    count = sum(map(len, launches))
    return count > 1 and 0.5 ** (count - 1) <= 1 - confidence


def percentile_interval(values: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """The interval that holds the middle `confidence` of resampled values."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _order_statistics(samples: np.ndarray, confidence: float) -> Interval:
    from scipy import stats

    low, high = stats.quantile_test(samples, p=0.5).confidence_interval(confidence)
    return Interval(*(float(end) if np.isfinite(end) else None for end in (low, high)))


def _between_launches(launches: Sequence[np.ndarray], confidence: float) -> Interval:
    rng = np.random.default_rng(SEED)
    drawn = draw_launches(len(launches), rng)
    return percentile_interval(resampled_medians(launches, drawn, rng), confidence)

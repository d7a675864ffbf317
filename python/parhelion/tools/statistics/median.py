"""The confidence interval of a median, from one launch or from several."""

from collections.abc import Iterable, Sequence

import numpy as np

from .interval import CONFIDENCE, NO_INTERVAL, Interval
from .shift import paired

LEAST_FOR_RESEMBLANCE, MOST_RESEMBLANCE, CHANCE = 20, 0.95, 0.05


def median_interval(launches: Sequence[np.ndarray], confidence: float = CONFIDENCE) -> Interval:
    """The interval of the median of all samples.

    One launch: by order statistics (binomial), free of any assumption about the distribution, and of a confidence the higher the
    more each sample resembles the one before it; it needs 6 samples for 95 %. Several launches: by a t interval of the logarithms of their medians, widened where needed to hold the median
    of all samples. Samples that would be too few from one launch are too few from several.
    """
    if not enough(map(len, launches), confidence):
        return NO_INTERVAL
    if len(launches) == 1:
        return _order_statistics(launches[0], confidence)
    medians = np.array([np.median(samples) for samples in launches])
    if not medians.min() > 0:  # a clock of low resolution: no logarithms
        return Interval(float(medians.min()), float(medians.max()))
    return paired(np.log(medians)).interval(confidence).with_inside(float(np.median(np.concatenate(launches))))


def enough(counts: Iterable[int], confidence: float = CONFIDENCE) -> bool:
    """Whether so many samples can tell where their median lies, were they all independent.

    All of them lie on the same side of it by chance once in 2 ** (count - 1).
    """
    count = sum(counts)
    return count > 1 and 0.5 ** (count - 1) <= 1 - confidence


def _order_statistics(samples: np.ndarray, confidence: float) -> Interval:
    from scipy import stats

    wider = 1 - 2 * stats.norm.sf(stats.norm.ppf((1 + confidence) / 2) * _inflation(samples))
    low, high = stats.quantile_test(samples, p=0.5).confidence_interval(wider)
    return Interval(*(float(end) if np.isfinite(end) else None for end in (low, high)))


def _inflation(samples: np.ndarray) -> float:
    """By how much the error of a median grows because each sample resembles the one before it, as in a process AR(1); 1 where that may be chance."""
    from scipy import stats

    before, after = samples[:-1], samples[1:]
    if len(samples) < LEAST_FOR_RESEMBLANCE or not (np.ptp(before) and np.ptp(after)):
        return 1.0
    found = stats.spearmanr(before, after, alternative="greater")
    if found.pvalue > CHANCE:
        return 1.0
    resemblance = min(float(found.statistic), MOST_RESEMBLANCE)
    return float(np.sqrt((1 + resemblance) / (1 - resemblance)))

"""When the median is known well enough to stop: what bench/precision.cpp does for the measuring program, and why."""

import numpy as np

LEAST_SAMPLES = 20
Z_99 = 2.576
MOST_RESEMBLANCE = 0.95


def half_width_of_median(samples: np.ndarray) -> float:
    """How far the interval of the median reaches from it, as a share of it; infinite where samples are too few for one."""
    ordered, count = np.sort(samples), len(samples)
    if count < LEAST_SAMPLES:
        return float("inf")
    below = int((count - Z_99 * _inflation(np.asarray(samples), ordered) * count**0.5) // 2)
    if below < 1:
        return float("inf")
    low, high, median = ordered[below - 1], ordered[count - below], ordered[count // 2]
    return float(max(high - median, median - low) / median)


def _inflation(samples: np.ndarray, ordered: np.ndarray) -> float:
    """By how much the error of a median grows because each sample resembles the one before it."""
    ranks = (ordered.searchsorted(samples, "left") + ordered.searchsorted(samples, "right") - len(samples)) / 2
    squares = float(ranks @ ranks)
    if squares == 0:  # all are equal
        return 1.0
    resemblance = min(max(float(ranks[1:] @ ranks[:-1]) / squares, 0.0), MOST_RESEMBLANCE)
    return ((1 + resemblance) / (1 - resemblance)) ** 0.5

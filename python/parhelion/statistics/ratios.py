"""Ratios of timings: what is compared, because absolute times belong to one machine in one state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from .interval import CONFIDENCE, NO_INTERVAL, Interval, enough, percentile_interval
from .resample import SEED, draw_launches, resampled_medians


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the positive ratios, or `None` when there is none."""
    values = [value for value in ratios if value and math.isfinite(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio_interval(above: Sequence[np.ndarray], below: Sequence[np.ndarray], confidence: float = CONFIDENCE) -> Interval:
    """The interval of median(above) / median(below) for two contenders measured in the same launches.

    The same launches are drawn for both, so that what a launch did to both alike cancels.
    """
    if min((len(samples) for samples in (*above, *below)), default=0) < 2 or len(above) != len(below):
        return NO_INTERVAL
    if not (enough(above, confidence) and enough(below, confidence)):
        return NO_INTERVAL
    rng = np.random.default_rng(SEED)
    drawn = draw_launches(len(above), rng)
    ratios = resampled_medians(above, drawn, rng) / resampled_medians(below, drawn, rng)
    return percentile_interval(ratios, confidence)

"""Ratios of timings: what is compared, because absolute times belong to one machine in one state."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .shift import BATCHES, CONFIDENCE, NO_INTERVAL, Interval, Shift, paired
from .summary import enough

SEED = 20231  # fixed: the same record always gives the same interval
Starts = Mapping[Any, np.ndarray]  # samples of one contender by the number of the start
Case = tuple[Sequence[Starts], Sequence[Starts]]  # the contenders whose fastest is divided by the fastest of the others


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the positive ratios, or `None` when there is none."""
    values = [value for value in ratios if value and math.isfinite(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio_interval(cases: Sequence[Case], confidence: float = CONFIDENCE) -> Interval:
    """The interval of the geometric mean over cases of fastest of `above` / fastest of `below`, as `(above, below)` for each case.

    Only launches in which all were measured count, so that what a launch did to all alike cancels; of a single launch,
    consecutive batches are compared. Where a fastest was chosen among several, launches are drawn again and again, the
    fastest chosen anew each time.
    """
    contenders = [starts for above, below in cases for starts in (*above, *below)]
    common = sorted(set.intersection(*(set(starts) for starts in contenders))) if contenders else []
    if not common or not all(above and below for above, below in cases):
        return NO_INTERVAL
    if not all(enough((len(starts[number]) for number in common), confidence) for starts in contenders):
        return NO_INTERVAL
    logs = [(_log_medians(above, common), _log_medians(below, common)) for above, below in cases]
    chosen = any(len(side) > 1 for case in logs for side in case)
    found = _with_choice(logs) if chosen else paired(np.mean([above[0] - below[0] for above, below in logs], axis=0))
    return found.interval(confidence)


Logs = Sequence[tuple[np.ndarray, np.ndarray]]


def _log_medians(side: Sequence[Starts], common: Sequence[int]) -> np.ndarray:
    """Contenders × launches, or × batches of the only launch."""
    parts = [[starts[number] for number in common] if len(common) > 1 else np.array_split(starts[common[0]], BATCHES) for starts in side]
    return np.log(np.maximum([[np.median(samples) for samples in each] for each in parts], 1e-12))


def _with_choice(logs: Logs) -> Shift:
    """The error by the bootstrap, corrected for its narrowness with few launches (Hesterberg 2015, section 3.2)."""
    from scipy import stats

    count = logs[0][0].shape[1]
    drawn = stats.bootstrap((np.arange(count),), lambda starts, axis=-1: _mean_ratio(logs, starts), n_resamples=999, method="percentile",
                            vectorized=True, rng=np.random.default_rng(SEED))  # fmt: skip
    error = float(drawn.standard_error) * math.sqrt(count / (count - 1))
    found = float(_mean_ratio(logs, np.arange(count)))
    luck = float(drawn.bootstrap_distribution.mean()) - found  # of the chosen: the fastest of several is also the luckiest
    return Shift(found - luck, error, count - 1)


def _mean_ratio(logs: Logs, starts: np.ndarray) -> np.ndarray:
    """The mean over cases of the logarithm of the ratio, for every row of launch numbers."""
    fastest = [[side[:, starts].mean(axis=-1).min(axis=0) for side in case] for case in logs]
    return np.mean([above - below for above, below in fastest], axis=0)

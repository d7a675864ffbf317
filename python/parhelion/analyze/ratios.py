"""Ratios of timings: what is compared, because absolute times belong to one machine in one state."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .shift import BATCHES, CONFIDENCE, Interval, Method, NO_INTERVAL, paired
from .summary import enough

# Two halves that choose for each other agree on a contender that is lucky in both: where all are alike, what they tell correlates with
# 0.36 at most (of three contenders), and with uneven halves with more, which a t test does not see.
HALVES_AGREE = math.sqrt(1.6)
Starts = Mapping[Any, np.ndarray]  # samples of one contender by the number of the start
Case = tuple[Sequence[Starts], Sequence[Starts]]  # the contenders whose fastest is divided by the fastest of the others


class Ratio(NamedTuple):
    """A ratio with its interval, and how that was found; without enough samples there is neither."""

    value: float | None = None
    interval: Interval = NO_INTERVAL
    method: str | None = None


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the positive ratios, or `None` when there is none."""
    values = [value for value in ratios if value and math.isfinite(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio(cases: Sequence[Case], confidence: float = CONFIDENCE) -> Ratio:
    """The geometric mean over cases of fastest of `above` / fastest of `below`, as `(above, below)` for each case.

    Only launches in which all were measured count, so that what a launch did to all alike cancels; of a single launch,
    consecutive batches are compared.
    """
    contenders = [starts for above, below in cases for starts in (*above, *below)]
    common = sorted(set.intersection(*(set(starts) for starts in contenders))) if contenders else []
    if not common or not all(above and below for above, below in cases):
        return Ratio()
    if not all(enough((len(starts[number]) for number in common), confidence) for starts in contenders):
        return Ratio()
    logs = [_fastest(above, common) - _fastest(below, common) for above, below in cases]
    found = paired(np.mean(logs, axis=0))
    method: str = Method.RATIOS if len(common) > 1 else Method.BATCHES
    if any(len(side) > 1 for case in cases for side in case):
        found, method = found._replace(error=HALVES_AGREE * found.error), method + Method.CHOSEN
    return Ratio(math.exp(found.shift), found.interval(confidence), str(method))


def _fastest(side: Sequence[Starts], common: Sequence[int]) -> np.ndarray:
    """Logarithms of the medians of the fastest contender, launch by launch, or batch by batch of the only launch.

    Which one that is, the other half of the launches tells: in the launches that chose it, the fastest of several is also the luckiest.
    """
    parts = [[starts[number] for number in common] if len(common) > 1 else np.array_split(starts[common[0]], BATCHES) for starts in side]
    logs = np.log(np.maximum([[np.median(samples) for samples in each] for each in parts], 1e-12))
    launches = np.arange(logs.shape[1])
    half = launches < len(launches) // 2
    chosen = np.where(half, logs[:, ~half].mean(axis=1).argmin(), logs[:, half].mean(axis=1).argmin())
    return logs[chosen, launches]

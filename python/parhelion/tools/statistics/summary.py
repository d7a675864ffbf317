"""All figures of one contender on one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .interval import Interval
from .median import median_interval
from .uncertainty import mean_std


@dataclass(frozen=True)
class Summary:
    """Figures in seconds; `count` samples from `launches` launches."""

    count: int
    launches: int
    median: float
    interval: Interval
    p5: float
    p95: float
    p99: float
    mean: float
    std: float | None
    mean_std_us: str


def summarize(launches: Sequence[Sequence[float]]) -> Summary | None:
    """The summary of samples given launch by launch; `None` when there is no sample."""
    arrays = [np.asarray(samples, dtype=float) for samples in launches if len(samples)]
    if not arrays:
        return None
    samples = np.concatenate(arrays)
    p5, median, p95, p99 = (float(value) for value in np.quantile(samples, [0.05, 0.5, 0.95, 0.99]))
    return Summary(
        count=len(samples),
        launches=len(arrays),
        median=median,
        interval=median_interval(arrays),
        p5=p5,
        p95=p95,
        p99=p99,
        mean=float(samples.mean()),
        std=float(samples.std(ddof=1)) if len(samples) > 1 else None,
        mean_std_us=mean_std((samples * 1e6).tolist()),
    )

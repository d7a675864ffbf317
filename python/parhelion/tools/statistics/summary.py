"""All figures of one contender on one case; mean and standard deviation in the notation of metrology: `0.90(3)` is 0.90 with one of 0.03."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .interval import Interval
from .median import median_interval


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


def summarize(launches: Sequence[Sequence[float] | np.ndarray]) -> Summary | None:
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


def mean_std(samples: Sequence[float], digits: int = 1) -> str:
    """`mean(std)` of the samples: the digits in brackets stand for the last digits of the mean (GUM 7.2.2).

    The standard deviation (of one sample, not of the mean) is rounded to `digits` significant digits and the mean to
    the same decimal place. One sample has no standard deviation and is given without brackets, as the published
    tables do; samples that are all equal give `(0)`.
    """
    import statistics

    if not len(samples):
        return "–"
    if not all(map(math.isfinite, samples)):
        return "–"
    mean = statistics.fmean(samples)
    if len(samples) == 1:
        return f"{mean:.6g}"
    return value_with_uncertainty(mean, statistics.stdev(samples), digits)


def value_with_uncertainty(value: float, std: float, digits: int = 1) -> str:
    """`value(std)`, both given; the package `uncertainties` knows the rounding (9.96 and 0.095 give `10.0(1)`)."""
    from uncertainties import ufloat

    if not (math.isfinite(value) and math.isfinite(std)):
        return "–"
    if std <= abs(value) * 1e-12:
        return f"{value:.6g}(0)"
    return f"{ufloat(value, std):.{digits}ufS}"

"""All figures of one contender on one case; mean and standard deviation in the notation of metrology: `0.90(3)`."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .shift import CONFIDENCE, Interval, Method, NO_INTERVAL, paired

LEAST_FOR_RESEMBLANCE, MOST_RESEMBLANCE, CHANCE = 20, 0.95, 0.05


def median_interval(launches: Sequence[np.ndarray], confidence: float = CONFIDENCE) -> tuple[Interval, Method | None]:
    """The interval of the median of all samples, and how it was found.

    One launch: by order statistics (binomial), free of any assumption about the distribution, and of a confidence the higher the
    more each sample resembles the one before it; it needs 6 samples for 95 %. Several launches: by a t interval of the logarithms of their medians, widened where needed to hold the median
    of all samples. Samples that would be too few from one launch are too few from several.
    """
    if not enough(map(len, launches), confidence):
        return NO_INTERVAL, None
    if len(launches) == 1:
        return _order_statistics(launches[0], confidence), Method.ORDER
    medians = np.array([np.median(samples) for samples in launches])
    if not medians.min() > 0:  # a clock of low resolution: no logarithms
        return Interval(float(medians.min()), float(medians.max())), Method.RANGE
    found = paired(np.log(medians)).interval(confidence)
    return found.with_inside(float(np.median(np.concatenate(launches)))), Method.LAUNCHES


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
    method: Method | None = None


def summarize(launches: Sequence[Sequence[float] | np.ndarray]) -> Summary | None:
    """The summary of samples given launch by launch; `None` when there is no sample."""
    arrays = [np.asarray(samples, dtype=float) for samples in launches if len(samples)]
    if not arrays:
        return None
    samples = np.concatenate(arrays)
    interval, method = median_interval(arrays)
    p5, median, p95, p99 = (float(value) for value in np.quantile(samples, [0.05, 0.5, 0.95, 0.99]))
    return Summary(
        count=len(samples),
        launches=len(arrays),
        median=median,
        interval=interval,
        p5=p5,
        p95=p95,
        p99=p99,
        mean=float(samples.mean()),
        std=float(samples.std(ddof=1)) if len(samples) > 1 else None,
        mean_std_us=mean_std((samples * 1e6).tolist()),
        method=method,
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

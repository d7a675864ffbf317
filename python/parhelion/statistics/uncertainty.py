"""Mean and standard deviation in the notation of metrology: `0.90(3)` is 0.90 with a standard deviation of 0.03."""

from __future__ import annotations

import math
from collections.abc import Sequence


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

"""Statistics of timings: every figure carries its uncertainty.

Samples are seconds per exchange. A *launch* is one `mpiexec`; samples of one launch share whatever
it drew (addresses, pages, cores), so that launches are the units of whatever is inferred from several.
"""

from .shift import Interval
from .summary import Summary, mean_std, median_interval, summarize
from .ratios import Ratio, geometric_mean, ratio

__all__ = ["Interval", "Ratio", "Summary", "geometric_mean", "mean_std", "median_interval", "ratio", "summarize"]

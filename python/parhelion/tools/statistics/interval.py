"""What an interval is."""

from __future__ import annotations

from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends of a confidence interval, in the unit of the samples; `None` where no interval can be given."""

    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low

    def with_inside(self, value: float) -> Interval:
        """The interval, widened where needed to hold the figure that it stands beside."""
        return self if self.low is None or self.high is None else Interval(min(self.low, value), max(self.high, value))


NO_INTERVAL = Interval(None, None)

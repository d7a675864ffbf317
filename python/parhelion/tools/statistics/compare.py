"""Did B change against A? The launch is the unit, because samples of one launch are not independent of each other."""

from dataclasses import dataclass, field

import numpy as np

from .interval import CONFIDENCE, NO_INTERVAL, Interval
from .states import Side
from .units import Kind, units


@dataclass(frozen=True)
class Difference:
    """B against A. `ratio` above 1: B takes longer. Without enough samples the figures are `None`.

    `units` is how many values of which `kind` were compared on each side. `states` has the ratio in each state of the machine
    that was compared, where it has states.
    """

    ratio: float | None = None
    interval: Interval = NO_INTERVAL
    p: float | None = None
    cliffs_delta: float | None = None
    units: tuple[int, int] = (0, 0)
    kind: Kind = Kind.LAUNCHES
    states: dict[str, float] = field(default_factory=dict)

    @property
    def single_launch(self) -> bool:
        """A side has but one launch, so that its samples had to be compared."""
        return self.kind is Kind.BATCHES


def difference(first: Side, second: Side, confidence: float = CONFIDENCE) -> Difference:
    """Compare two sides, given launch by launch in the order of time, each state of the machine with its like (see `units`).

    The middle of each launch, on logarithms, is one value in a t test, whose interval becomes that of the ratio. Launches that
    were made in pairs are compared pair by pair. Where a side has but one launch, its samples in five batches are the
    values instead: that says nothing about what another launch would have drawn, and `single_launch` tells so.
    """
    if not (first and second):
        return Difference(units=(len(first), len(second)))
    found = units(first, second)
    shift = found.shift()
    if shift is None:
        return Difference(units=found.counts, kind=found.kind)
    samples = [np.concatenate([launch.samples for launch in side]) for side in (first, second)]
    return Difference(
        float(np.exp(shift.shift)), shift.interval(confidence), shift.p, _cliffs_delta(*samples), found.counts, found.kind, found.ratios()
    )


def _cliffs_delta(first: np.ndarray, second: np.ndarray) -> float:
    """1: every B sample is longer than every A sample."""
    ordered = np.sort(first)
    below, not_above = ordered.searchsorted(second, "left").sum(), ordered.searchsorted(second, "right").sum()
    return float(below + not_above) / (len(first) * len(second)) - 1

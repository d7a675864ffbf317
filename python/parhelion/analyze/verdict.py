"""Did B change against A, and what may be said of differences, over all cases of a comparison at once.

The launch is the unit, because samples of one launch are not independent of each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .states import Side
from .shift import CONFIDENCE, Interval, NO_INTERVAL, Shift
from .units import Kind, units


@dataclass(frozen=True)
class Difference:
    """B against A. `ratio` above 1: B takes longer. Without enough samples the figures are `None`.

    `units` is how many values of which `kind` were compared on each side. `states` has the ratio in each state of the machine
    that was compared, where it has states.
    """

    ratio: float | None = None
    interval: Interval = NO_INTERVAL
    shift: Shift | None = None
    cliffs_delta: float | None = None
    units: tuple[int, int] = (0, 0)
    kind: Kind = Kind.LAUNCHES
    states: dict[str, float] = field(default_factory=dict)

    @property
    def p(self) -> float | None:
        return self.shift and self.shift.p

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
        float(np.exp(shift.shift)), shift.interval(confidence), shift, _cliffs_delta(*samples), found.counts, found.kind, found.ratios()
    )


def _cliffs_delta(first: np.ndarray, second: np.ndarray) -> float:
    """1: every B sample is longer than every A sample."""
    ordered = np.sort(first)
    below, not_above = ordered.searchsorted(second, "left").sum(), ordered.searchsorted(second, "right").sum()
    return float(below + not_above) / (len(first) * len(second)) - 1


class Verdict(StrEnum):
    """B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference beyond the margin"
    NOT_ENOUGH = "not enough samples"


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Rules:
    """When a difference counts.

    `alpha` bounds the share of false findings (Benjamini & Hochberg 1995); when nothing has changed, it bounds the
    chance that anything at all is found. By default 3 %, so that it stays below 5 % where noise is not as normal as t tests assume. A difference below `least` is never one; with one launch, where the launch
    itself may make the difference, below `least_single`. Nothing found counts as "no difference beyond the margin" only when
    the interval leaves no room for a difference of `margin`. A machine that drifts makes a shift of `drift` by itself from one run to
    the next: only what is surely beyond that is a difference.
    """

    alpha: float = 0.03
    least: float = 0.01
    least_single: float = 0.03
    margin: float = 0.05
    drift: float = 0.0


DEFAULT_RULES = Rules()
IMAGE_RULES = Rules(drift=0.03)  # nobody can measure two software images in turn


class Judged(NamedTuple):
    """A difference with its p value, adjusted for the number of differences, and what may be said of it."""

    difference: Difference
    p_adjusted: float | None
    verdict: Verdict


def judge(differences: Sequence[Difference], rules: Rules = DEFAULT_RULES) -> list[Judged]:
    """What may be said of each difference; all of them are one family of tests."""
    from scipy import stats

    known = [each.shift.p_beyond(math.log1p(rules.drift)) for each in differences if each.shift]
    adjusted = iter(stats.false_discovery_control(known) if len(known) > 1 else known)
    values = [float(next(adjusted)) if each.shift else None for each in differences]
    return [Judged(each, p, _verdict(each, p, rules)) for each, p in zip(differences, values, strict=True)]


def _verdict(found: Difference, p: float | None, rules: Rules) -> Verdict:
    if p is None or found.ratio is None:
        return Verdict.NOT_ENOUGH
    least = rules.least_single if found.single_launch else rules.least
    if p <= rules.alpha and not 1 / (1 + least) < found.ratio < 1 + least:
        return Verdict.SLOWER if found.ratio > 1 else Verdict.FASTER
    low, high = found.interval
    narrow = low is not None and high is not None and low > 1 / (1 + rules.margin) and high < 1 + rules.margin
    return Verdict.NO_DIFFERENCE if narrow else Verdict.NOT_ENOUGH

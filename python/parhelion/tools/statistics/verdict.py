"""What may be said of differences, over all cases of a comparison at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .compare import Difference


class Verdict(StrEnum):
    """B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference shown"
    NOT_ENOUGH = "not enough samples"


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Rules:
    """When a difference counts.

    `alpha` bounds the share of false findings (Benjamini & Hochberg 1995); when nothing has changed, it bounds the
    chance that anything at all is found. By default 3 %, so that it stays below 5 % where noise is not as normal as t tests assume. A difference below `least` is never one; with one launch, where the launch
    itself may make the difference, below `least_single`. Nothing found counts as "no difference shown" only when the
    interval leaves no room for a difference of `margin`.
    """

    alpha: float = 0.03
    least: float = 0.01
    least_single: float = 0.03
    margin: float = 0.05


DEFAULT_RULES = Rules()


class Judged(NamedTuple):
    """A difference with its p value, adjusted for the number of differences, and what may be said of it."""

    difference: Difference
    p_adjusted: float | None
    verdict: Verdict


def judge(differences: Sequence[Difference], rules: Rules = DEFAULT_RULES) -> list[Judged]:
    """What may be said of each difference; all of them are one family of tests."""
    from scipy import stats

    known = [each.p for each in differences if each.p is not None]
    adjusted = iter(stats.false_discovery_control(known) if len(known) > 1 else known)
    values = [None if each.p is None else float(next(adjusted)) for each in differences]
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

"""What may be said of differences, over all cases of a comparison at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .compare import Difference


class Verdict(StrEnum):
    """B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference shown"
    NOT_ENOUGH = "not enough samples"


@dataclass(frozen=True)
class Rules:
    """When a difference counts.

    `alpha` bounds the share of false findings (Benjamini & Hochberg 1995); when nothing has changed, it bounds the
    chance that anything at all is found. A difference below `least` is never one; with one launch, where the launch
    itself may make the difference, below `least_single`. Nothing found counts as "no difference shown" only when the
    interval leaves no room for a difference of `margin`.
    """

    alpha: float = 0.05
    least: float = 0.01
    least_single: float = 0.03
    margin: float = 0.05


DEFAULT_RULES = Rules()


def verdicts(differences: Sequence[Difference], rules: Rules = DEFAULT_RULES) -> list[Verdict]:
    """One verdict per difference; all of them are one family of tests."""
    return [_verdict(each, p, rules) for each, p in zip(differences, adjusted(differences), strict=True)]


def adjusted(differences: Sequence[Difference]) -> list[float | None]:
    """The p values, adjusted for the number of cases."""
    from scipy import stats

    known = [each.p for each in differences if each.p is not None]
    if not known:
        return [None] * len(differences)
    values = iter(stats.false_discovery_control(known))
    return [None if each.p is None else float(next(values)) for each in differences]


def _verdict(found: Difference, p: float | None, rules: Rules) -> Verdict:
    if p is None or found.ratio is None:
        return Verdict.NOT_ENOUGH
    least = rules.least_single if found.single_launch else rules.least
    if p <= rules.alpha and not 1 / (1 + least) < found.ratio < 1 + least:
        return Verdict.SLOWER if found.ratio > 1 else Verdict.FASTER
    low, high = found.interval
    narrow = low is not None and high is not None and low > 1 / (1 + rules.margin) and high < 1 + rules.margin
    return Verdict.NO_DIFFERENCE if narrow else Verdict.NOT_ENOUGH

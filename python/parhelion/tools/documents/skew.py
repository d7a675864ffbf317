"""Ranks that are apart, told from an exchange that is slow: for a rank that comes late all others wait in the exchange."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..style.words import microseconds
from .params import case_label
from .results import CaseResult, Entry

MUCH = 0.25  # of the time of an exchange
MOSTLY = 0.75  # of the samples
LEAST_SAMPLES = 5
MOST_TOLD = 3


class Skew(NamedTuple):
    """Medians over samples, in seconds per exchange: `apart` while some ranks are in the exchange and others are not, `together`
    while all are in it. `rank` is last in a `share` of the samples."""

    apart: float
    together: float
    rank: int
    share: float

    @property
    def matters(self) -> bool:
        """One and the same rank takes much of the time."""
        return self.apart > MUCH * (self.apart + self.together) and self.share >= MOSTLY


def skew(entry: Entry) -> Skew | None:
    """`None` where the record does not tell, as those of older builds, or where a value was wrong."""
    lines = [line for line in entry.lines if line.skew_s]
    if not lines or entry.failed:
        return None
    apart = np.concatenate([line.skew_s for line in lines])
    whole = np.concatenate([line.samples for line in lines])
    rank, count = Counter(rank for line in lines for rank in line.last_rank).most_common(1)[0]
    return Skew(float(np.median(apart)), float(np.median(np.maximum(whole - apart, 0))), rank, count / len(apart))


def skewed(cases: Sequence[CaseResult]) -> str | None:
    """The note about ranks for which the others wait, those first for which they wait longest."""
    found = [(told, case, entry) for case in cases for entry in case.entries.values()
             if entry.role != "floor" and (told := skew(entry)) and told.matters and len(_samples(entry)) >= LEAST_SAMPLES]  # fmt: skip
    if not found:
        return None
    found.sort(key=lambda each: -each[0].apart)
    texts = [_text(told, f"{entry.contender} ({case_label(case, cases)})" if len(cases) > 1 else entry.contender) for told, case, entry in found[:MOST_TOLD]]
    more = f"; so in {len(found) - MOST_TOLD} more timings" if len(found) > MOST_TOLD else ""
    return "; ".join(texts) + more + ": work that is not shared evenly, or a disturbed rank, and not the exchange"


def _samples(entry: Entry) -> list[int]:
    return [rank for line in entry.lines for rank in line.last_rank]


def _text(told: Skew, who: str) -> str:
    return (f"ranks arrive {microseconds(told.apart)} µs apart in {who}: the exchange waits for rank {told.rank}, "
            f"and takes {microseconds(told.together)} µs with all ranks in it")  # fmt: skip

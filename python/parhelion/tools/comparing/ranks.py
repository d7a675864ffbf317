"""Ranks that stand out: those whose own samples take longer, and those for which the others wait."""

from collections.abc import Sequence

import numpy as np

from ..documents import CaseResult
from ..documents.skew import skew
from ..records.model import Case

CLEARLY = 1.25  # times the median of the ranks; cores that lie unevenly make less


def slow_ranks(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Per contender the ranks whose time is clearly above that of the median rank, in the median over all its samples."""
    lines: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        for entry in case.entries.values():
            for line in entry.lines:
                if len(line.samples_by_rank) > 1 and line.samples:
                    lines.setdefault((entry.contender, len(line.samples_by_rank)), []).append(line)
    found = {key: _slow(each) for key, each in lines.items()}
    return [(f"slow ranks of {contender} on {ranks} ranks", slow) for (contender, ranks), slow in found.items() if slow]


def late_ranks(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Per contender the ranks that come so late, in most samples of a case, that much of the time is the others' wait for them."""
    found: dict[tuple[str, int], set[int]] = {}
    for case in cases:
        for entry in case.entries.values():
            if (told := skew(entry)) and told.matters:
                ranks = max(len(line.samples_by_rank) for line in entry.lines)
                found.setdefault((entry.contender, ranks), set()).add(told.rank)
    return [(f"ranks that come late to {contender} on {ranks} ranks", ", ".join(map(str, sorted(late))))
            for (contender, ranks), late in found.items()]  # fmt: skip


def _slow(lines: Sequence[Case]) -> str:
    """Such as `1, 3`; empty when no rank stands out."""
    times = np.concatenate([np.array(line.samples_by_rank) for line in lines], axis=1)
    # The lower middle, so that of two ranks the slower one is compared with the other.
    usual = np.sort(times, axis=0)[(len(times) - 1) // 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nanmedian(np.where(usual > 0, times / usual, np.nan), axis=1)
    return ", ".join(str(rank) for rank, ratio in enumerate(ratios) if ratio > CLEARLY)

"""How often `compare` is right, measured on one's own runs.

The launches of a run are split at random into two halves. Nothing changed between them, so a difference found is a
false one (A/A). With one half's samples multiplied by a planted factor, the same split tells how often a change of that
size is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...records import RecordError
from ...statistics.compare import differences
from ...statistics.states import Launch
from ...statistics.verdict import DEFAULT_RULES, Rules, Verdict, verdicts
from ..comparison import launches as launches_of
from ..sets import RecordSet

DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Calibration:
    """Shares over all splits; `launches` is the number on each side."""

    splits: int
    launches: int
    cases: int
    planted: float
    false_pairs: float
    false_cases: float
    found_pairs: float
    found_cases: float


def calibrate(
    records: RecordSet, planted: float = 1.05, splits: int = 200, launches: int | None = None, seed: int = 1,
    rules: Rules = DEFAULT_RULES,
) -> Calibration:
    """Split at random and compare; raises `RecordError` with fewer than four launches per case."""  # fmt: skip
    whole = [launches_of(entry.lines) for case in records.cases for entry in case.entries.values() if not entry.failed]
    whole = [each for each in whole if each]
    available = min(map(len, whole), default=0)
    size = launches or available // 2
    if size < 1 or 2 * size > available or available < 4:
        raise RecordError(f"{records.name} has {available} launches per case, {max(4, 2 * size)} are needed: use --launches")
    rng = np.random.default_rng(seed)
    outcomes = np.array([_outcome(whole, rng.permutation(available)[: 2 * size], size, planted, rules) for _ in range(splits)])
    false_cases, found_cases = outcomes.mean(axis=0)
    false_pairs, found_pairs = (outcomes > 0).mean(axis=0)
    return Calibration(splits, size, len(whole), planted, *map(float, (false_pairs, false_cases, found_pairs, found_cases)))


def _outcome(whole: Sequence[list[Launch]], drawn: np.ndarray, size: int, planted: float, rules: Rules) -> tuple[float, float]:
    """Shares of cases called different in A/A, and called slower with the slowdown planted."""
    found = [_judge(whole, drawn[:size], drawn[size:], factor, rules) for factor in (1.0, planted)]
    different = [verdict in DIFFERENT for verdict in found[0]]
    slower = [verdict is Verdict.SLOWER for verdict in found[1]]
    return float(np.mean(different)), float(np.mean(slower))


def _judge(
    whole: Sequence[list[Launch]], first: np.ndarray, second: np.ndarray, factor: float, rules: Rules
) -> list[Verdict]:
    pairs = [([each[i] for i in first], [_scaled(each[i], factor) for i in second]) for each in whole]
    return verdicts(differences(pairs), rules)


def _scaled(launch: Launch, factor: float) -> Launch:
    return Launch(factor * launch.samples, launch.probe)

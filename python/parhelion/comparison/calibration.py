"""How often `compare` is right, measured on one's own runs.

The launches of a run are split at random into two halves. Nothing changed between them, so a difference found is a
false one (A/A). With one half's samples multiplied by a planted factor, the same split tells how often a change of that
size is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..records import CaseResult, Entry, RecordError
from ..records.model import Case
from ..statistics.verdict import DEFAULT_RULES, Rules, Verdict
from .comparison import Pair, compare_entries
from .sets import RecordSet

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
    whole = [(case, entry) for case in records.cases for entry in case.entries.values() if entry.launches and not entry.failed]
    available = min((len(entry.launches) for _, entry in whole), default=0)
    size = launches or available // 2
    if size < 1 or 2 * size > available or available < 4:
        raise RecordError(f"{records.name} has {available} launches per case, {max(4, 2 * size)} are needed: use --launches")
    rng = np.random.default_rng(seed)
    outcomes = np.array([_outcome(whole, rng.permutation(available)[: 2 * size], size, planted, rules) for _ in range(splits)])
    false_cases, found_cases = outcomes.mean(axis=0)
    false_pairs, found_pairs = (outcomes > 0).mean(axis=0)
    return Calibration(splits, size, len(whole), planted, *map(float, (false_pairs, false_cases, found_pairs, found_cases)))


def _outcome(
    whole: list[tuple[CaseResult, Entry]], drawn: np.ndarray, size: int, planted: float, rules: Rules
) -> tuple[float, float]:
    """Shares of cases called different in A/A, and called slower with the slowdown planted."""
    same = [_split(case, entry, drawn, size, 1.0) for case, entry in whole]
    slower = [_split(case, entry, drawn, size, planted) for case, entry in whole]
    false = [row.verdict in DIFFERENT for row in compare_entries(same, rules)]
    found = [row.verdict is Verdict.SLOWER for row in compare_entries(slower, rules)]
    return float(np.mean(false)), float(np.mean(found))


def _split(case: CaseResult, entry: Entry, drawn: np.ndarray, size: int, factor: float) -> Pair:
    lines = [line for line in entry.lines if line.samples]
    first = [lines[place] for place in drawn[:size]]
    second = [_scaled(lines[place], factor) for place in drawn[size:]]
    halves = (Entry(entry.name, entry.params, entry.contender, entry.role, half) for half in (first, second))
    return tuple((case, half) for half in halves)


def _scaled(line: Case, factor: float) -> Case:
    samples = [factor * sample for sample in line.samples]
    return Case(line.launch, line.name, line.contender, line.params, line.role, line.verified, samples=samples, probe_ns=line.probe_ns)

"""What is compared with what: one value per launch and state, or per pair, per run, per batch of samples."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .shift import BATCHES, Shift, independent, middle, paired, stratified
from .states import Launch, Matched, Side, by_state

LEAST_SAMPLES = 3  # of the one launch of a side
RUNS_DIFFER = 0.02  # p of an analysis of variance


class Kind(StrEnum):
    """What one value stands for."""

    LAUNCHES = "launches"
    PAIRS = "pairs of launches"
    RUNS = "runs"
    BATCHES = "batches of samples"


class Units(NamedTuple):
    """Tables of both sides, units × states, with the middles of logarithms; NaN where a unit saw too little of a state."""

    kind: Kind
    first: np.ndarray
    second: np.ndarray
    states: list[str | None]

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.first), len(self.second)

    def shift(self) -> Shift | None:
        """B − A with its error; `None` with fewer than two units on a side."""
        if min(self.counts) < 2:
            return None
        if self.kind is Kind.PAIRS:
            return paired(np.nanmean(self.second - self.first, axis=1))
        return independent(self.first[:, 0], self.second[:, 0]) if len(self.states) == 1 else stratified(self.first, self.second)

    def ratios(self) -> dict[str, float]:
        """B / A in each state that has a name."""
        columns = zip(self.states, self.first.T, self.second.T, strict=True)
        seen = [(state, a[np.isfinite(a)], b[np.isfinite(b)]) for state, a, b in columns if state]
        return {state: float(np.exp(b.mean() - a.mean())) for state, a, b in seen if len(a) and len(b)}


def units(first: Side, second: Side) -> Units:
    """The units of two sides with at least one launch each.

    Launches that were made in pairs stay together, if there are two pairs. A side with one launch is cut into batches. Runs are
    the units where both sides have several and those of a side differ by more than their starts.
    """
    matched = by_state(first, second)
    states = [each.state for each in matched]
    tables = _table([each.first for each in matched]), _table([each.second for each in matched])
    pairs = _pairs(first, second, *tables)
    if len(pairs[0]) > 1:
        return Units(Kind.PAIRS, *pairs, states)
    if min(len(first), len(second)) == 1:
        return _batches(matched)
    runs = [_by_run(side, table) for side, table in zip((first, second), tables, strict=True)]
    if min(map(len, runs)) > 1 and any(map(_differ, runs)):
        return _common(Kind.RUNS, _means(runs[0]), _means(runs[1]), states)
    return _common(Kind.LAUNCHES, *tables, states)


def _table(by_state: Sequence[Sequence[Launch]]) -> np.ndarray:
    return np.array([[middle(np.log(launch.samples)) if len(launch.samples) else np.nan for launch in state] for state in by_state]).T


def _pairs(first: Side, second: Side, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of those pairs that saw a common state, pair by pair."""
    partners = {launch.pair: number for number, launch in enumerate(second) if launch.pair}
    found = [(number, partners[launch.pair]) for number, launch in enumerate(first) if launch.pair in partners]
    chosen = a[[number for number, _ in found]], b[[number for _, number in found]]
    seen = np.isfinite(chosen[0] + chosen[1]).any(axis=1)
    return chosen[0][seen], chosen[1][seen]


def _batches(matched: Sequence[Matched]) -> Units:
    """Batches of the only launch of a side, in the state that both sides saw most of."""
    most = max(matched, key=lambda each: min(sum(len(launch.samples) for launch in side) for side in (each.first, each.second)))
    return Units(Kind.BATCHES, _of_single(most.first), _of_single(most.second), [most.state])


def _of_single(side: Side) -> np.ndarray:
    if len(side) > 1:
        table = _table([side])
        return table[np.isfinite(table[:, 0])]
    samples = side[0].samples
    batches = np.array_split(np.log(samples), min(BATCHES, len(samples))) if len(samples) >= LEAST_SAMPLES else []
    # Consecutive samples, so that batches resemble each other far less than neighboring samples do.
    return np.array([middle(batch) for batch in batches]).reshape(-1, 1)


def _by_run(side: Side, table: np.ndarray) -> list[np.ndarray]:
    """The rows of each run that has any."""
    seen = np.isfinite(table).any(axis=1)
    numbers = np.array([launch.run for launch in side])
    return [table[(numbers == run) & seen] for run in dict.fromkeys(numbers[seen].tolist())]


def _means(runs: Sequence[np.ndarray]) -> np.ndarray:
    """One row per run; a state that none of its launches saw stays NaN."""
    rows = [[column[np.isfinite(column)] for column in run.T] for run in runs]
    return np.array([[column.mean() if len(column) else np.nan for column in row] for row in rows])


def _differ(runs: Sequence[np.ndarray]) -> bool:
    """Whether runs differ by more than their launches do: something drifted between them."""
    from scipy import stats

    centers = np.nanmean(np.concatenate(runs), axis=0)
    values = [np.nanmean(run - centers, axis=1) for run in runs]
    together = np.concatenate(values)
    return 1 < len(runs) < len(together) and np.ptp(together) > 0 and bool(stats.f_oneway(*values).pvalue < RUNS_DIFFER)


def _common(kind: Kind, first: np.ndarray, second: np.ndarray, states: Sequence[str | None]) -> Units:
    """The states that at least two units of each side saw, and the units that saw one of them."""
    usable = np.all([np.isfinite(table).sum(axis=0) > 1 for table in (first, second)], axis=0)
    kept = [table[:, usable] for table in (first, second)]
    kept = [table[np.isfinite(table).any(axis=1)] for table in kept]
    return Units(kind, kept[0], kept[1], [state for state, use in zip(states, usable, strict=True) if use])

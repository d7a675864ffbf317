"""States of a machine, told by a probe beside each sample.

Two cores may be near or far from each other and change over within seconds, which shifts every timing. Samples are
compared within one state, or after the shift between the states was taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

APART = np.log(1.6)  # states are told apart when their typical probes differ by at least this factor
LEAST_SHARE = 0.05
LEAST_SAMPLES = 5


class Launch(NamedTuple):
    """Samples of one launch in seconds, and the probe beside each of them, or NaN."""

    samples: np.ndarray
    probe: np.ndarray


def state_boundary(probe: np.ndarray) -> float | None:
    """The probe value that parts two states best (Otsu 1979, on logarithms), or `None` when there is but one state."""
    logs = np.sort(np.log(probe[probe > 0]))
    count = len(logs)
    least = max(LEAST_SAMPLES, int(LEAST_SHARE * count))
    if count < 2 * least:
        return None
    sums = np.cumsum(logs)
    left = np.arange(1, count)
    between = (sums[-1] * left / count - sums[:-1]) ** 2 / (left * (count - left))
    cut = least - 1 + int(np.argmax(between[least - 1 : count - least]))
    if np.median(logs[cut + 1 :]) - np.median(logs[: cut + 1]) < APART:
        return None
    return float(np.exp((logs[cut] + logs[cut + 1]) / 2))


def without_states(first: Sequence[Launch], second: Sequence[Launch]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Logarithms of the samples of both sides, launch by launch, with the states of the machine taken out.

    The shift between the states is read off launches that saw both, and taken out if that brings the launches of a side
    closer together: a probe also tells of disturbances that are no state. Where no launch saw both states, only the
    samples of one are kept: the one in which the side with fewer samples has the most.
    """
    logs = [[np.log(launch.samples) for launch in side] for side in (first, second)]
    boundary = state_boundary(np.concatenate([launch.probe for launch in (*first, *second)] or [np.empty(0)]))
    if boundary is None:
        return logs[0], logs[1]
    far = [[launch.probe > boundary for launch in side] for side in (first, second)]
    shift = _shift(logs[0] + logs[1], far[0] + far[1])
    chosen = _of_one_state(logs, far) if shift is None else min(logs, _shifted(logs, far, shift), key=_spread)
    return chosen[0], chosen[1]


Sides = list[list[np.ndarray]]


def _shifted(logs: Sides, far: Sides, shift: float) -> Sides:
    return [[y - shift * state for y, state in zip(*side, strict=True)] for side in zip(logs, far, strict=True)]


def _of_one_state(logs: Sides, far: Sides) -> Sides:
    counts = [min(sum(int((state == wanted).sum()) for state in side) for side in far) for wanted in (False, True)]
    wanted = counts[1] > counts[0]
    kept = [[y[state == wanted] for y, state in zip(*side, strict=True)] for side in zip(logs, far, strict=True)]
    return [[y for y in side if len(y)] for side in kept]


def _spread(sides: Sides) -> float:
    """How far launches lie from the middle launch of their side; samples from the middle one where there is but one."""
    values = [np.array([np.median(y) for y in side]) if len(side) > 1 else np.concatenate(side) for side in sides if side]
    return float(sum(np.abs(each - np.median(each)).mean() for each in values))


def _shift(logs: Sequence[np.ndarray], far: Sequence[np.ndarray]) -> float | None:
    shifts = [
        np.median(y[state]) - np.median(y[~state])
        for y, state in zip(logs, far, strict=True)
        if min(state.sum(), (~state).sum()) >= LEAST_SAMPLES
    ]
    return float(np.median(shifts)) if shifts else None

"""States of a machine, told by a probe beside each sample.

Two cores may be near or far from each other and change over within seconds, which shifts every timing. Each side has its own
states; samples of one state are compared with samples of the same state. A side that is in one state all the time is
what it is: another machine, say, whose probe differs throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

APART = np.log(1.6)  # states are told apart when their typical probes differ by at least this factor
LEAST_SHARE = 0.05
LEAST_SAMPLES = 5
NEAR, FAR = "near", "far"


class Launch(NamedTuple):
    """Samples of one launch in seconds, and the probe beside each of them, or NaN, which tells no state.

    `run` is the run that it belongs to; `pair` the number that it shares with a launch of the other side, if any.
    """

    samples: np.ndarray
    probe: np.ndarray
    run: int = 0
    pair: tuple[str, int] | None = None


Side = Sequence[Launch]


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
    between[np.diff(logs) == 0] = 0  # equal probes are in one state
    cut = least - 1 + int(np.argmax(between[least - 1 : count - least]))
    if logs[cut] == logs[cut + 1] or np.median(logs[cut + 1 :]) - np.median(logs[: cut + 1]) < APART:
        return None
    return float(np.exp((logs[cut] + logs[cut + 1]) / 2))


def typical_probes(probe: np.ndarray) -> dict[str | None, float]:
    """The median probe in ns of each state that a side has; one that has but one state calls it `None`."""
    known = probe[probe > 0]
    boundary = state_boundary(known)
    if boundary is None:
        return {None: float(np.median(known))} if len(known) else {}
    return {NEAR: float(np.median(known[known <= boundary])), FAR: float(np.median(known[known > boundary]))}


class Matched(NamedTuple):
    """The launches of both sides with the samples of one state alone; `state` is `None` where samples are taken as they are."""

    state: str | None
    first: list[Launch]
    second: list[Launch]


def by_state(first: Side, second: Side) -> list[Matched]:
    """What is compared with what, state by state.

    Near is compared with near and far with far where both sides have two states. A side of one state meets that state of the other
    whose probe is like its own. Everything else is compared as it is, and its state is `None`. Of launches that saw a state in fewer than
    five samples none are left.
    """
    probes = [np.concatenate([launch.probe for launch in side] or [np.empty(0)]) for side in (first, second)]
    typical = [typical_probes(each) for each in probes]
    bounds = [state_boundary(each) for each in probes]
    return [
        Matched(a or b, _of_state(first, bounds[0], a), _of_state(second, bounds[1], b))
        for a, b in _matched(*typical)
    ]


Typical = dict[str | None, float]


def _matched(first: Typical, second: Typical) -> list[tuple[str | None, str | None]]:
    """The states that meet; `None` stands for all samples of a side."""
    if len(first) == 2 == len(second):
        return [(NEAR, NEAR), (FAR, FAR)]
    if len(first) == 2 and len(second) == 1:
        return [(_like(first, second[None]), None)]
    if len(second) == 2 and len(first) == 1:
        return [(None, _like(second, first[None]))]
    return [(None, None)]


def _like(two: Typical, probe: float) -> str | None:
    """That of two states whose probe is like this one, or `None`."""
    found = min(two, key=lambda state: abs(np.log(two[state] / probe)))
    return found if abs(np.log(two[found] / probe)) < APART else None


def _of_state(side: Side, boundary: float | None, state: str | None) -> list[Launch]:
    if boundary is None or state is None:
        return list(side)
    return [_kept(launch, launch.probe > boundary if state == FAR else launch.probe <= boundary) for launch in side]


def _kept(launch: Launch, which: np.ndarray) -> Launch:
    which = which if which.sum() >= LEAST_SAMPLES else np.zeros(len(launch.samples), bool)
    return launch._replace(samples=launch.samples[which], probe=launch.probe[which])

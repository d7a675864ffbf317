"""Two sides made up with a known truth, noisy as machines are: what the grid of error rates is measured on.

Sizes of the noise are those of small virtual machines: launches differ by 1.5 %, samples of a launch by 5 % and a few stragglers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from parhelion.analyze.statistics import DEFAULT_RULES, Launch, Rules, Verdict, difference, judge

Sides = tuple[list[Launch], list[Launch]]
ONE_AFTER_THE_OTHER, IN_TURN = "one after the other", "interleaved, pair by pair"


def splits(launches: list[Launch], size: int, design: str) -> list[Sides]:
    """The sides of every stretch of 2 × `size` launches, each with either side as the first."""
    made: list[Sides] = []
    for first in range(len(launches) - 2 * size + 1):
        stretch = launches[first : first + 2 * size]
        a, b = stretch[:size], stretch[size:]
        if design == IN_TURN:
            numbered = [launch._replace(pair=("pairs", number // 2)) for number, launch in enumerate(stretch)]
            a, b = numbered[::2], numbered[1::2]
        made += [(a, b), (b, a)]
    return made


def judged(cases: Sequence[Sides], factor: float, wanted: Sequence[Verdict], rules: Rules = DEFAULT_RULES, probe: float = 1.0) -> list[bool]:
    """Whether each case, with B slowed by that factor, has one of these verdicts; all cases are one family."""
    found = judge([difference(first, slowed(second, factor, probe)) for first, second in cases], rules)
    return [each.verdict in wanted for each in found]


def slowed(side: list[Launch], factor: float, probe: float = 1.0) -> list[Launch]:
    """The same with every sample so many times as long; `probe` is what another machine does to its probe."""
    return [launch._replace(samples=factor * launch.samples, probe=probe * launch.probe) for launch in side]


SAMPLES = 30
START, SAMPLE = 0.015, 0.05  # standard deviations of logarithms
STEP = 0.02  # of a random walk, from launch to launch
SLOW, NEAR_NS, FAR_NS = 2.4, 50.0, 220.0  # how much longer it takes between far cores; what the probe says
TYPICAL_S = 20e-6



class Logs(NamedTuple):
    """Launches × samples, both sides' launches in one table: logarithms of times, and of the probe in ns."""

    times: np.ndarray
    probe: np.ndarray


def equal(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """Starts that differ alike on both sides; one sample in twenty straggles."""
    shape = (len(noisy), SAMPLES)
    straggling = (rng.random(shape) < 0.05) * rng.exponential(1, shape)
    starts = rng.normal(0, START, (len(noisy), 1))
    return Logs(starts + rng.normal(0, SAMPLE, shape) + straggling, np.log(NEAR_NS) + rng.normal(0, 0.08, shape))


def unequal(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """Launches of one side (of fewer launches, where there are fewer) differ four times as much."""
    logs = equal(rng, noisy)
    return logs._replace(times=logs.times + rng.normal(0, START * np.sqrt(15), len(noisy))[:, None] * noisy[:, None])


def autocorrelated(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """Each sample resembles the one before it (AR(1), 0.9)."""
    from scipy import signal

    logs = equal(rng, noisy)
    white = rng.normal(0, SAMPLE, logs.times.shape)
    white[:, 1:] *= np.sqrt(1 - 0.9**2)
    return logs._replace(times=rng.normal(0, START, (len(noisy), 1)) + signal.lfilter([1.0], [1.0, -0.9], white))


def states(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """Cores now near and now far: far in 5, 50 or 95 % of a launch's samples."""
    logs = equal(rng, noisy)
    far = rng.random(logs.times.shape) < rng.choice([0.05, 0.5, 0.95], (len(noisy), 1))
    return Logs(logs.times + np.log(SLOW) * far, logs.probe + np.log(FAR_NS / NEAR_NS) * far)


def outliers(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """One launch in ten is slower by 5 to 30 %."""
    logs = equal(rng, noisy)
    off = (rng.random(len(noisy)) < 0.1) * rng.uniform(0.05, 0.3, len(noisy))
    return logs._replace(times=logs.times + off[:, None])


def drift(rng: np.random.Generator, noisy: np.ndarray) -> Logs:
    """The machine's pace goes astray from launch to launch, in the order in which they were made (a random walk)."""
    logs = equal(rng, noisy)
    return logs._replace(times=logs.times + np.cumsum(rng.normal(0, STEP, len(noisy)))[:, None])


NOISES: dict[str, Callable[[np.random.Generator, np.ndarray], Logs]] = {
    "equal": equal,
    "unequal": unequal,
    "autocorrelated": autocorrelated,
    "two states": states,
    "outliers": outliers,
    "drift": drift,
}


def sides(rng: np.random.Generator, noise: str, starts: tuple[int, int], in_turn: bool = False) -> Sides:
    """A and B, in which nothing differs; A was measured before B, or both in turn, pair by pair."""
    order = np.arange(2 * min(starts)) % 2 if in_turn else np.repeat([0, 1], starts)
    fewer = 0 if starts[0] <= starts[1] else 1
    times, probe = (np.exp(logs) for logs in NOISES[noise](rng, order == fewer))
    made = [
        [Launch(TYPICAL_S * times[start], probe[start], side, ("pairs", number) if in_turn else None)
         for number, start in enumerate(np.flatnonzero(order == side))]
        for side in (0, 1)
    ]
    return made[0], made[1]

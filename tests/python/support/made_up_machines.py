"""Whole images made up with a known truth: how often a comparison of two finds anything.

An image has four benchmarks one after the other, of as many figures as `image run` measures on two ranks; B is measured after A, on
the machine as A has left it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parhelion.analyze.statistics import CONFIDENCE
from parhelion.analyze.statistics import Launch
from parhelion.analyze.statistics import DIFFERENT, Difference, Rules, Verdict, difference, judge, of_images
from error_rates import Cell
from made_up_sides import FAR_NS, NEAR_NS, ONE_AFTER_THE_OTHER, SAMPLE, SLOW, TYPICAL_S, Sides

FIGURES = (24, 28, 10, 10)  # of alltoall, halo, gather and set-up
SAMPLES = 10
COMMON, OWN = 0.010, 0.012  # standard deviations between launches: of all figures alike, and of each by itself
LAUNCHES, EFFECTS = (5, 10), (0.0, 0.05, 0.10)


@dataclass(frozen=True)
class Noise:
    """What the machine does: `walk` is the step of its pace from launch to launch, `flips` how often a sample finds the cores in the other
    state, `resemblance` of a sample to the one before it, `outliers` the share of launches that are slower by 5 to 30 %."""

    walk: float = 0.0
    flips: float = 0.0
    resemblance: float = 0.0
    outliers: float = 0.0


NOISES = {
    "launches differ": Noise(),
    "autocorrelated": Noise(resemblance=0.9),
    "two states": Noise(flips=0.02),
    "drift": Noise(walk=0.003),
    "all of these, outliers": Noise(0.003, 0.02, 0.7, 0.03),
}


class Machine:
    """A machine that goes on from image to image as it is."""

    def __init__(self, rng: np.random.Generator, noise: Noise) -> None:
        self.rng, self.noise = rng, noise
        self.pace, self.far = 0.0, bool(rng.random() < 0.5)
        # Far cores slow down what goes between them, and not what copies alone.
        self.slower = [np.where(rng.random(count) < 0.3, 0.0, np.log(rng.uniform(1.2, SLOW, count))) for count in FIGURES]

    def image(self, launches: int) -> list[list[Launch]]:
        """The launches of every figure."""
        made = [[self._launch(slower) for _ in range(launches)] for slower in self.slower]
        return [list(figure) for benchmark in made for figure in zip(*benchmark, strict=True)]

    def _launch(self, slower: np.ndarray) -> list[Launch]:
        """One launch of a benchmark: a row of samples for each of its figures, one after the other."""
        from scipy import signal

        rng, noise, shape = self.rng, self.noise, (len(slower), SAMPLES)
        self.pace += rng.normal(0, noise.walk)
        straggles = (rng.random() < noise.outliers) * rng.uniform(0.05, 0.3)
        level = self.pace + straggles + rng.normal(0, COMMON) + rng.normal(0, OWN, len(slower))
        far = self.far ^ (np.cumsum(rng.random(shape) < noise.flips).reshape(shape) % 2 == 1)
        self.far = bool(far[-1, -1])
        white = rng.normal(0, SAMPLE, shape)
        white[:, 1:] *= np.sqrt(1 - noise.resemblance**2)
        samples = signal.lfilter([1.0], [1.0, -noise.resemblance], white) + (rng.random(shape) < 0.05) * rng.exponential(1, shape)
        probe = np.where(far & (noise.flips > 0), FAR_NS, NEAR_NS) * np.exp(rng.normal(0, 0.08, shape))
        times = TYPICAL_S * np.exp(level[:, None] + far * (noise.flips > 0) * slower[:, None] + samples)
        return [Launch(*each) for each in zip(times, probe, strict=True)]


def images(rng: np.random.Generator, noise: Noise, launches: int) -> list[Sides]:
    """Both sides of every figure of two images in which nothing differs."""
    machine = Machine(rng, noise)
    return list(zip(machine.image(launches), machine.image(launches), strict=True))


def compared(sides: Sequence[Sides]) -> list[Difference]:
    return of_images(sides, [difference(*pair) for pair in sides])


def image_grid(comparisons: int, seed: int, rules: Rules, launches: tuple[int, ...] = LAUNCHES) -> Iterator[Cell]:
    """The share of comparisons of whole images that call a figure different, or slower where all figures of B are."""
    rng = np.random.default_rng(seed)
    for name, noise in NOISES.items():
        for count in launches:
            made = [compared(images(rng, noise, count)) for _ in range(comparisons)]
            for effect in EFFECTS:
                wanted = (Verdict.SLOWER,) if effect else DIFFERENT
                found = [finds([_slower(each, 1 + effect) for each in figures], wanted, rules) for figures in made]
                yield Cell(name, ONE_AFTER_THE_OTHER, (count, count), effect, float(np.mean(found)), comparisons)


def finds(figures: Sequence[Difference], wanted: Sequence[Verdict], rules: Rules) -> bool:
    """Whether any of the figures of two images has one of these verdicts."""
    return any(each.verdict in wanted for each in judge(figures, rules))


def _slower(found: Difference, factor: float) -> Difference:
    """The same where every sample of B takes so many times as long."""
    if found.shift is None or found.ratio is None or factor == 1:
        return found
    shift = found.shift._replace(shift=found.shift.shift + float(np.log(factor)))
    return replace(found, ratio=found.ratio * factor, shift=shift, interval=shift.interval(CONFIDENCE))

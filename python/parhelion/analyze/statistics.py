"""Statistics of timings: intervals, summaries, ratios, machine states, and verdicts on B against A.

The statistical unit is the launch, because samples of one launch are correlated.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from ..record.model import Case

CONFIDENCE = 0.95
TRIM = 0.1  # fraction trimmed from each end of ten or more values; with fewer, losing a launch costs more than an outlier
MOST_FREEDOM = 1.5
BATCHES = 5  # of a single launch's samples: few and long, so that they include slow changes of the machine
MIDDLE = 0.25  # fraction trimmed from each end: nearly as efficient as a mean, nearly as robust as a median


class Method(StrEnum):
    """Method of computing an interval."""

    LAUNCHES = "Student's t over the logarithms of the launches' medians"
    RANGE = "the range of the launches' medians, some of which are 0"
    RATIOS = "Student's t over the logarithms of the ratio in each launch"
    CHOSEN = ", in which the best of several is chosen by the other half of the launches"


class Interval(NamedTuple):
    """Ends of a confidence interval, in the unit of the samples; `None` if unknown."""

    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


NO_INTERVAL = Interval(None, None)


class Center(NamedTuple):
    mean: float
    squared_error: float
    freedom: int


class Shift(NamedTuple):
    """Mean difference of logarithms, B − A, with standard error and degrees of freedom."""

    shift: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """Two-sided p value of the hypothesis of no shift."""
        return self.p_beyond(0.0)

    def p_beyond(self, most: float) -> float:
        """p value of the hypothesis of a shift within ±`most`."""
        from scipy import special

        if self.error == 0:  # no variation, as with a simulated clock
            return float(abs(self.shift) <= most)
        ends = (most - abs(self.shift), -most - abs(self.shift))
        return min(1.0, float(sum(special.stdtr(self.freedom, end / self.error) for end in ends)))

    def interval(self, confidence: float) -> Interval:
        from scipy import special

        half = self.error * special.stdtrit(self.freedom, (1 + confidence) / 2) if self.error else 0.0
        return Interval(float(np.exp(self.shift - half)), float(np.exp(min(self.shift + half, 700.0))))


def center(values: np.ndarray) -> Center:
    """Trimmed mean of at least two values, with its error from winsorized squares (Tukey and McLaughlin 1963)."""
    count, cut = len(values), int(TRIM * len(values))
    kept = count - 2 * cut
    ordered = np.sort(values)
    mean = float(ordered[cut : count - cut].mean())
    ordered[:cut], ordered[count - cut :] = ordered[cut], ordered[count - cut - 1]
    squares = float(((ordered - ordered.mean()) ** 2).sum())
    return Center(mean, squares / (kept * (kept - 1)), kept - 1)


def independent(first: np.ndarray, second: np.ndarray) -> Shift:
    """Shift between two sides of at least two values each: Yuen's test for unequal variances (1974); untrimmed, Welch's (1947)."""
    return _between(center(first), center(second))


def _between(first: Center, second: Center) -> Shift:
    """Shift between two centers, with degrees of freedom of at most `MOST_FREEDOM` times the smaller side's.

    Welch's alone give up to 12 % false positives at 5 % for 2 against 10 launches. The smaller side's never do (Mickey and
    Brown 1966), but lose power for about equal variances.
    """
    squares = first.squared_error + second.squared_error
    least = min(first.freedom, second.freedom)
    shares = first.squared_error**2 / first.freedom + second.squared_error**2 / second.freedom
    freedom = min(squares**2 / shares, MOST_FREEDOM * least) if shares else least
    return Shift(second.mean - first.mean, float(np.sqrt(squares)), float(freedom))


def stratified(first: np.ndarray, second: np.ndarray) -> Shift:
    """Shift between two tables of launches × states, NaN for too few samples; each state needs two launches per side.

    Launch counts weight the mean over states. The error follows from each launch's influence on that mean and so includes the
    correlation of states within a launch. With one state, this is Welch's t test, untrimmed.
    """
    counts = np.array([np.isfinite(side).sum(axis=0) for side in (first, second)])
    weights = 1 / (1 / counts).sum(axis=0)
    weights /= weights.sum()
    return _between(*(_sum_over_states(side, weights) for side in (first, second)))


def _sum_over_states(side: np.ndarray, weights: np.ndarray) -> Center:
    means, counts = np.nanmean(side, axis=0), np.isfinite(side).sum(axis=0)
    influence = np.nansum((side - means) * weights / np.sqrt(counts * (counts - 1)), axis=1)
    freedom = max(len(side) - len(weights), int(counts.min()) - 1)
    return Center(float(means @ weights), float(influence @ influence), freedom)


def paired(differences: np.ndarray) -> Shift:
    """Shift from at least two paired differences, which cancel common disturbances."""
    found = center(differences)
    return Shift(found.mean, float(np.sqrt(found.squared_error)), found.freedom)


def middle(values: np.ndarray) -> float:
    """Mean of the middle half (scipy's trim_mean takes forty times as long)."""
    cut = int(MIDDLE * len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


APART = np.log(1.6)  # least log ratio of the typical probes of two states
LEAST_SHARE = 0.05
LEAST_SAMPLES = 5
NEAR, FAR = "near", "far"


class Launch(NamedTuple):
    """Samples of one launch in seconds, and the probe beside each in ns, NaN if unknown.

    `run` numbers the run; `pair` identifies the interleaved launch of the other side, if any.
    """

    samples: np.ndarray
    probe: np.ndarray
    run: int = 0
    pair: tuple[str, int] | None = None


Side = Sequence[Launch]


def all_probes(lines: Iterable[Case]) -> np.ndarray:
    return np.concatenate([line.probes for line in lines] or [np.empty(0)])


def state_boundary(probe: np.ndarray) -> float | None:
    """Probe threshold between two states (Otsu 1979, on logarithms), or `None` for a single state."""
    logs = np.sort(np.log(probe[probe > 0]))
    count = len(logs)
    least = max(LEAST_SAMPLES, int(LEAST_SHARE * count))
    if count < 2 * least:
        return None
    sums = np.cumsum(logs)
    left = np.arange(1, count)
    between = (sums[-1] * left / count - sums[:-1]) ** 2 / (left * (count - left))
    between[np.diff(logs) == 0] = 0  # equal probes belong to one state
    cut = least - 1 + int(np.argmax(between[least - 1 : count - least]))
    if logs[cut] == logs[cut + 1] or np.median(logs[cut + 1 :]) - np.median(logs[: cut + 1]) < APART:
        return None
    return float(np.exp((logs[cut] + logs[cut + 1]) / 2))


Typical = dict[str | None, float]


def typical_probes(probe: np.ndarray) -> Typical:
    """Median probe of each state in ns; the key of a single state is `None`."""
    known = probe[probe > 0]
    boundary = state_boundary(known)
    if boundary is None:
        return {None: float(np.median(known))} if len(known) else {}
    return {NEAR: float(np.median(known[known <= boundary])), FAR: float(np.median(known[known > boundary]))}


class Matched(NamedTuple):
    """Launches of both sides with the samples of one state; `state` is `None` for all samples."""

    state: str | None
    first: list[Launch]
    second: list[Launch]


def by_state(first: Side, second: Side) -> list[Matched]:
    """Match near with near and far with far if both sides have two states, or a single state with the other side's similar state.

    Otherwise keep all samples. A launch with fewer than `LEAST_SAMPLES` samples of a state loses them.
    """
    a, b = (typical_probes(_probes(side)) for side in (first, second))
    both = [(NEAR, NEAR), (FAR, FAR)] if len(a) == len(b) == 2 else [(_like(a, b), _like(b, a))]
    return [Matched(one or other, _of_state(first, one), _of_state(second, other)) for one, other in both]


def _probes(side: Side) -> np.ndarray:
    return np.concatenate([launch.probe for launch in side] or [np.empty(0)])


def _like(mine: Typical, other: Typical) -> str | None:
    """Return the state, of two, whose probe is similar to the other side's only probe, or `None`."""
    if len(mine) != 2 or len(other) != 1:
        return None
    distances = {state: abs(np.log(probe / other[None])) for state, probe in mine.items()}
    found = min(distances, key=lambda state: distances[state])
    return found if distances[found] < APART else None


def _of_state(side: Side, state: str | None) -> list[Launch]:
    boundary = state_boundary(_probes(side)) if state else None
    if boundary is None:
        return list(side)
    return [_kept(launch, launch.probe > boundary if state == FAR else launch.probe <= boundary) for launch in side]


def _kept(launch: Launch, which: np.ndarray) -> Launch:
    which = which if which.sum() >= LEAST_SAMPLES else np.zeros(len(launch.samples), bool)
    return launch._replace(samples=launch.samples[which], probe=launch.probe[which])


def median_interval(launches: Sequence[np.ndarray]) -> tuple[Interval, Method | None]:
    """Return the interval of the median, extended to contain it, and the method; `NO_INTERVAL` for too few samples, or one launch."""
    if len(launches) < 2 or not enough(map(len, launches)):
        return NO_INTERVAL, None
    medians = np.array([np.median(samples) for samples in launches])
    if not medians.min() > 0:  # low-resolution clock: no logarithms
        return Interval(float(medians.min()), float(medians.max())), Method.RANGE
    low, high = paired(np.log(medians)).interval(CONFIDENCE)
    median = median_of(launches)
    return Interval(min(low or 0.0, median), max(high or 0.0, median)), Method.LAUNCHES


def enough(counts: Iterable[int]) -> bool:
    """Whether samples suffice for an interval: all lie on one side of the median with probability 2 ** (1 - count)."""
    count = sum(counts)
    return count > 1 and 0.5 ** (count - 1) <= 1 - CONFIDENCE


def median_of(launches: Sequence[np.ndarray]) -> float:
    """Median of all samples; each launch has the same weight, as in the interval."""
    samples = np.concatenate(launches)
    order = np.argsort(samples)
    below = np.cumsum(np.concatenate([np.full(len(each), 1 / len(each)) for each in launches])[order])
    places = np.searchsorted(below, len(launches) / 2 * np.array([1 - 1e-9, 1 + 1e-9]))
    return float(samples[order[places]].mean())


@dataclass(frozen=True)
class Summary:
    """Summary in seconds of `count` samples from `launches` launches."""

    count: int
    launches: int
    median: float
    interval: Interval
    p5: float
    p95: float
    p99: float
    mean: float
    std: float | None
    mean_std_us: str
    method: Method | None = None

    @property
    def no_interval(self) -> str:
        """Why it has no interval, if so."""
        return "one launch" if self.launches == 1 else "too few samples"


def summarize(launches: Sequence[Sequence[float] | np.ndarray]) -> Summary | None:
    """Summarize samples, one array per launch; `None` without samples."""
    arrays = [np.asarray(samples, dtype=float) for samples in launches if len(samples)]
    if not arrays:
        return None
    samples = np.concatenate(arrays)
    interval, method = median_interval(arrays)
    p5, p95, p99 = (float(value) for value in np.quantile(samples, [0.05, 0.95, 0.99]))
    std = float(samples.std(ddof=1)) if len(samples) > 1 else None
    mean_std_us = mean_std((samples * 1e6).tolist())
    return Summary(len(samples), len(arrays), median_of(arrays), interval, p5, p95, p99, float(samples.mean()), std, mean_std_us, method)


def mean_std(samples: Sequence[float]) -> str:
    """Format `mean(std)`: std is that of one sample, in units of the mean's last digits (GUM 7.2.2).

    A single sample has no parentheses, as in the published tables; equal samples give `(0)`.
    """
    if not len(samples) or not all(map(math.isfinite, samples)):
        return "–"
    mean = statistics.fmean(samples)
    return f"{mean:.6g}" if len(samples) == 1 else value_with_uncertainty(mean, statistics.stdev(samples))


def value_with_uncertainty(value: float, std: float) -> str:
    """Format `value(std)`; the package `uncertainties` rounds (9.96 and 0.095 give `10.0(1)`)."""
    from uncertainties import ufloat

    if not (math.isfinite(value) and math.isfinite(std)):
        return "–"
    if std <= abs(value) * 1e-12:
        return f"{value:.6g}(0)"
    return f"{ufloat(value, std):.1ufS}"


# Choosing by the other half correlates the halves: by at most 0.36 (three equal variants), by more if halves are uneven.
# The t test ignores that correlation; this factor widens its error.
HALVES_AGREE = math.sqrt(1.6)
Samples = Mapping[Any, np.ndarray]  # of one variant, by launch number
Quotient = tuple[Sequence[Samples], Sequence[Samples]]  # variants above and below the fraction line; the fastest of each counts


class Ratio(NamedTuple):
    """A ratio with its interval and method; `None` for too few samples; a single launch has no interval."""

    value: float | None = None
    interval: Interval = NO_INTERVAL
    method: str | None = None


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Geometric mean of the positive finite ratios, or `None`."""
    values = [value for value in ratios if value and math.isfinite(value)]
    return statistics.geometric_mean(values) if values else None


def ratio(cases: Sequence[Quotient]) -> Ratio:
    """Geometric mean over cases `(above, below)` of the fastest `above` / the fastest `below`.

    Uses only launches with all variants, so that launch effects cancel; splits a single launch into consecutive batches.
    """
    variants = [samples for above, below in cases for samples in (*above, *below)]
    common = sorted(set.intersection(*map(set, variants))) if variants else []
    if not common or not all(above and below for above, below in cases):
        return Ratio()
    if not all(enough(len(samples[number]) for number in common) for samples in variants):
        return Ratio()
    found = paired(np.mean([_fastest(above, common) - _fastest(below, common) for above, below in cases], axis=0))
    if len(common) < 2:
        return Ratio(math.exp(found.shift))
    method: str = Method.RATIOS
    if any(len(side) > 1 for case in cases for side in case):
        found, method = found._replace(error=HALVES_AGREE * found.error), method + Method.CHOSEN
    return Ratio(math.exp(found.shift), found.interval(CONFIDENCE), str(method))


def _fastest(side: Sequence[Samples], common: Sequence[int]) -> np.ndarray:
    """Log medians of the fastest variant by launch, or by batch of a single launch.

    The other half of the launches selects the variant: selection and timing from the same launches would be biased.
    """
    parts = [[each[number] for number in common] if len(common) > 1 else np.array_split(each[common[0]], BATCHES) for each in side]
    logs = np.log(np.maximum([[np.median(samples) for samples in each] for each in parts], 1e-12))
    launches = np.arange(logs.shape[1])
    half = launches < len(launches) // 2
    chosen = np.where(half, logs[:, ~half].mean(axis=1).argmin(), logs[:, half].mean(axis=1).argmin())
    return logs[chosen, launches]


LEAST_OF_SINGLE = 3  # samples of a side's only launch
RUNS_DIFFER = 0.02  # p value of the analysis of variance


class Kind(StrEnum):
    """Statistical unit of a comparison."""

    LAUNCHES = "launches"
    PAIRS = "pairs of launches"
    RUNS = "runs"
    BATCHES = "batches of samples"


class Units(NamedTuple):
    """Interquartile means of logarithms, units × states; NaN for too few samples."""

    kind: Kind
    first: np.ndarray
    second: np.ndarray
    states: list[str | None]

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.first), len(self.second)

    def shift(self) -> Shift | None:
        """Return the shift B − A; `None` with fewer than two units on a side."""
        if min(self.counts) < 2:
            return None
        if self.kind is Kind.PAIRS:
            return paired(np.nanmean(self.second - self.first, axis=1))
        return independent(self.first[:, 0], self.second[:, 0]) if len(self.states) == 1 else stratified(self.first, self.second)

    def ratios(self) -> dict[str, float]:
        """Ratio B / A in each named state."""
        columns = zip(self.states, self.first.T, self.second.T)
        seen = [(state, a[np.isfinite(a)], b[np.isfinite(b)]) for state, a, b in columns if state]
        return {state: float(np.exp(b.mean() - a.mean())) for state, a, b in seen if len(a) and len(b)}


def units(first: Side, second: Side) -> Units:
    """Choose the units: interleaved pairs if there are two; batches if a side has one launch; else launches.

    Runs are the units if both sides have several and a side's runs differ by more than its launches.
    """
    matched = by_state(first, second)
    states = [each.state for each in matched]
    tables = _table([each.first for each in matched]), _table([each.second for each in matched])
    pairs = _paired_rows(first, second, *tables)
    if len(pairs[0]) > 1:
        return Units(Kind.PAIRS, *pairs, states)
    if min(len(first), len(second)) == 1:
        # Use the state with most samples on both sides.
        most = max(matched, key=lambda each: min(sum(len(launch.samples) for launch in side) for side in (each.first, each.second)))
        return Units(Kind.BATCHES, _batches(most.first), _batches(most.second), [most.state])
    runs = [_by_run(side, table) for side, table in zip((first, second), tables)]
    if min(map(len, runs)) > 1 and any(map(_differ, runs)):
        return _common(Kind.RUNS, _means(runs[0]), _means(runs[1]), states)
    return _common(Kind.LAUNCHES, *tables, states)


def _table(by_state: Sequence[Sequence[Launch]]) -> np.ndarray:
    return np.array([[middle(np.log(launch.samples)) if len(launch.samples) else np.nan for launch in state] for state in by_state]).T


def _paired_rows(first: Side, second: Side, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the pairs with a common state, in pairs."""
    partners = {launch.pair: number for number, launch in enumerate(second) if launch.pair}
    found = [(number, partners[launch.pair]) for number, launch in enumerate(first) if launch.pair in partners]
    chosen = a[[number for number, _ in found]], b[[number for _, number in found]]
    seen = np.isfinite(chosen[0] + chosen[1]).any(axis=1)
    return chosen[0][seen], chosen[1][seen]


def _batches(side: Side) -> np.ndarray:
    """Batches of consecutive samples of a side's only launch (less correlated than single samples); else its launches."""
    if len(side) > 1:
        table = _table([side])
        return table[np.isfinite(table[:, 0])]
    samples = side[0].samples
    batches = np.array_split(np.log(samples), min(BATCHES, len(samples))) if len(samples) >= LEAST_OF_SINGLE else []
    return np.array([middle(batch) for batch in batches]).reshape(-1, 1)


def _by_run(side: Side, table: np.ndarray) -> list[np.ndarray]:
    """Rows of each run, without empty runs."""
    seen = np.isfinite(table).any(axis=1)
    numbers = np.array([launch.run for launch in side])
    return [table[(numbers == run) & seen] for run in dict.fromkeys(numbers[seen].tolist())]


def _means(runs: Sequence[np.ndarray]) -> np.ndarray:
    """One mean row per run; NaN for a state without samples."""
    rows = [[column[np.isfinite(column)] for column in run.T] for run in runs]
    return np.array([[column.mean() if len(column) else np.nan for column in row] for row in rows])


def _differ(runs: Sequence[np.ndarray]) -> bool:
    """Whether runs differ by more than their launches do, as with drift."""
    from scipy import stats

    centers = np.nanmean(np.concatenate(runs), axis=0)
    values = [np.nanmean(run - centers, axis=1) for run in runs]
    together = np.concatenate(values)
    return 1 < len(runs) < len(together) and np.ptp(together) > 0 and bool(stats.f_oneway(*values).pvalue < RUNS_DIFFER)


def _common(kind: Kind, first: np.ndarray, second: np.ndarray, states: Sequence[str | None]) -> Units:
    """Keep the states with at least two units per side, and the units with such a state."""
    usable = np.all([np.isfinite(table).sum(axis=0) > 1 for table in (first, second)], axis=0)
    kept = [table[:, usable] for table in (first, second)]
    kept = [table[np.isfinite(table).any(axis=1)] for table in kept]
    return Units(kind, kept[0], kept[1], [state for state, use in zip(states, usable) if use])


class Verdict(StrEnum):
    """Verdict on B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference beyond the margin"
    NOT_ENOUGH = "not enough samples"


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Difference:
    """B against A; `ratio` above 1: B is slower. Without enough samples the numbers are `None`.

    `units` counts the values of `kind` on each side; `states` maps machine states to ratios. `judge` sets `p_adjusted` (for the
    number of differences), `verdict`, and `why`, the reason for no verdict although the interval excludes 1.
    """

    ratio: float | None = None
    interval: Interval = NO_INTERVAL
    shift: Shift | None = None
    units: tuple[int, int] = (0, 0)
    kind: Kind = Kind.LAUNCHES
    states: dict[str, float] = field(default_factory=dict)
    p_adjusted: float | None = None
    verdict: Verdict = Verdict.NOT_ENOUGH
    why: str = ""

    @property
    def p(self) -> float | None:
        return self.shift and self.shift.p

    @property
    def single_launch(self) -> bool:
        """Whether a side has a single launch, so that batches are compared; another launch may differ."""
        return self.kind is Kind.BATCHES


def difference(first: Side, second: Side) -> Difference:
    """Compare two sides, given as launches in order of time, with a t test on logarithms."""
    if not (first and second):
        return Difference(units=(len(first), len(second)))
    found = units(first, second)
    shift = found.shift()
    if shift is None:
        return Difference(units=found.counts, kind=found.kind)
    interval = NO_INTERVAL if found.kind is Kind.BATCHES else shift.interval(CONFIDENCE)
    return Difference(float(np.exp(shift.shift)), interval, shift, found.counts, found.kind, found.ratios())


@dataclass(frozen=True)
class Rules:
    """Thresholds of a verdict.

    `alpha` bounds the false discovery rate (Benjamini & Hochberg 1995) and, if nothing changed, the chance of any finding: 3 %,
    to stay below 5 % with noise that is not normal. A difference below `least`, or `least_single` with one launch, does not
    count. "No difference beyond the margin" requires an interval within `margin`. `drift` is the machine's own shift between
    runs; a difference must significantly exceed it.
    """

    alpha: float = 0.03
    least: float = 0.01
    least_single: float = 0.03
    margin: float = 0.05
    drift: float = 0.0


DEFAULT_RULES = Rules()
IMAGE_RULES = Rules(drift=0.03)  # launches of two software images cannot be interleaved


def judge(differences: Sequence[Difference], rules: Rules = DEFAULT_RULES) -> list[Difference]:
    """Add p values and verdicts; all differences form one family of tests."""
    from scipy import stats

    known = [each.shift.p_beyond(math.log1p(rules.drift)) for each in differences if each.shift]
    adjusted = iter(stats.false_discovery_control(known) if len(known) > 1 else known)
    values = [float(next(adjusted)) if each.shift else None for each in differences]
    judged = [replace(each, p_adjusted=p, verdict=_verdict(each, p, rules)) for each, p in zip(differences, values)]
    return [replace(each, why=_why(each, rules, len(known))) for each in judged]


def of_images(sides: Sequence[tuple[Side, Side]], found: Sequence[Difference]) -> list[Difference]:
    """Withhold verdicts that two images, whose launches cannot be interleaved, do not allow.

    These are verdicts on single launches, and, if an image has both core states, on figures with near cores in one image and far cores in the other.
    """
    of_image = (np.concatenate([np.empty(0), *(_probes(pair[side]) for pair in sides)]) for side in (0, 1))
    two_states = any(state_boundary(probes) is not None for probes in of_image)

    def unknown(pair: tuple[Side, Side], each: Difference) -> str:
        if each.single_launch:
            return "one launch of an image: how launches differ is unknown"
        probes = [np.median(probe) for probe in map(_probes, pair) if len(probe)]
        if two_states and not each.states and len(probes) == 2 and min(probes) > 0 and abs(math.log(probes[0] / probes[1])) >= APART:
            return "the cores were near in one image and far in the other"
        return ""

    reasons = [unknown(*both) if both[1].shift else "" for both in zip(sides, found, strict=True)]
    return [replace(each, shift=None, interval=NO_INTERVAL, why=why) if why else each for each, why in zip(found, reasons, strict=True)]


def _why(found: Difference, rules: Rules, family: int) -> str:
    if found.shift is None:
        return found.why
    low, high = found.interval
    if found.verdict is not Verdict.NOT_ENOUGH or found.p_adjusted is None or low is None or high is None or low <= 1 <= high:
        return ""
    if found.p_adjusted <= rules.alpha:
        return f"the ratio is within {rules.least_single if found.single_launch else rules.least:.0%} of 1"
    beyond = f" beyond a drift of {rules.drift:.0%}" if rules.drift else ""
    return f"p = {found.p_adjusted:.2g}{beyond}, corrected for {family} figure{'s' if family > 1 else ''}, is above {rules.alpha:g}"


def _verdict(found: Difference, p: float | None, rules: Rules) -> Verdict:
    if p is None or found.ratio is None:
        return Verdict.NOT_ENOUGH
    least = rules.least_single if found.single_launch else rules.least
    if p <= rules.alpha and not 1 / (1 + least) < found.ratio < 1 + least:
        return Verdict.SLOWER if found.ratio > 1 else Verdict.FASTER
    low, high = found.interval
    narrow = low is not None and high is not None and low > 1 / (1 + rules.margin) and high < 1 + rules.margin
    return Verdict.NO_DIFFERENCE if narrow else Verdict.NOT_ENOUGH

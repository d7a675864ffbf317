"""The statistics of timings: intervals and summaries of one side, ratios, states of the machine, and what may be said of B against A.

The launch is the unit, because samples of one launch are not independent of each other.
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
TRIM = 0.1  # of each end, from ten values on: with fewer, dropping a launch costs more than an outlier
MOST_FREEDOM = 1.5
BATCHES = 5  # per single launch: few, so that each is long and batches vary with the machine
MIDDLE = 0.25  # share of a launch's samples: nearly as efficient as a mean, as robust as a median


class Method(StrEnum):
    """How an interval was found."""

    ORDER = "order statistics of the samples of one launch"
    LAUNCHES = "Student's t over the logarithms of the launches' medians"
    RANGE = "the range of the launches' medians, some of which are 0"
    RATIOS = "Student's t over the logarithms of the ratio in each launch"
    BATCHES = f"Student's t over the logarithms of the ratio in {BATCHES} batches of one launch"
    CHOSEN = ", in which the best of several is chosen by the other half of the launches"


class Interval(NamedTuple):
    """Both ends of a confidence interval, in the unit of the samples; `None` where no interval can be given."""

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
    """By how much the logarithms of B lie above those of A, as a t test sees it."""

    shift: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """How probable a shift as large as this is where nothing differs."""
        return self.p_beyond(0.0)

    def p_beyond(self, most: float) -> float:
        """The same where the sides differ by `most` at most, one way or the other."""
        from scipy import special

        if self.error == 0:  # no variance, as with a simulated clock
            return float(abs(self.shift) <= most)
        ends = (most - abs(self.shift), -most - abs(self.shift))
        return min(1.0, float(sum(special.stdtr(self.freedom, end / self.error) for end in ends)))

    def interval(self, confidence: float) -> Interval:
        from scipy import special

        half = self.error * special.stdtrit(self.freedom, (1 + confidence) / 2) if self.error else 0.0
        return Interval(float(np.exp(self.shift - half)), float(np.exp(min(self.shift + half, 700.0))))


def center(values: np.ndarray) -> Center:
    """The trimmed mean of at least two values, with the error that follows from winsorized squares (Tukey and McLaughlin 1963)."""
    count, cut = len(values), int(TRIM * len(values))
    kept = count - 2 * cut
    ordered = np.sort(values)
    mean = float(ordered[cut : count - cut].mean())
    ordered[:cut], ordered[count - cut :] = ordered[cut], ordered[count - cut - 1]
    squares = float(((ordered - ordered.mean()) ** 2).sum())
    return Center(mean, squares / (kept * (kept - 1)), kept - 1)


def independent(first: np.ndarray, second: np.ndarray) -> Shift:
    """The shift between two sides of at least two values each: Yuen's statistic for unequal variances (1974), untrimmed Welch's (1947)."""
    return _between(center(first), center(second))


def _between(first: Center, second: Center) -> Shift:
    """Welch's degrees of freedom alone call two launches against ten different in up to 12 % at 5 %. Those of the smaller side alone never
    err (Mickey and Brown 1966), but cost much where variances are about equal: hence at most `MOST_FREEDOM` times those.
    """
    squares = first.squared_error + second.squared_error
    least = min(first.freedom, second.freedom)
    shares = first.squared_error**2 / first.freedom + second.squared_error**2 / second.freedom
    freedom = min(squares**2 / shares, MOST_FREEDOM * least) if shares else least
    return Shift(second.mean - first.mean, float(np.sqrt(squares)), float(freedom))


def stratified(first: np.ndarray, second: np.ndarray) -> Shift:
    """The shift between two tables of launches × states, NaN where a launch saw too little of a state; each state needs two launches a side.

    The mean over states, each by how many launches tell of it. The error is that of each launch's influence on the sum, so that what
    states have in common within a launch is counted. With one state this is Welch's t, untrimmed.
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
    """The shift from at least two differences of pairs: what met both of a pair has cancelled."""
    found = center(differences)
    return Shift(found.mean, float(np.sqrt(found.squared_error)), found.freedom)


def middle(values: np.ndarray) -> float:
    """The mean of the middle half; scipy's trim_mean does the same, at forty times the cost."""
    cut = int(MIDDLE * len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


APART = np.log(1.6)  # log of the least ratio between the typical probes of two states
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


def all_probes(lines: Iterable[Case]) -> np.ndarray:
    return np.concatenate([line.probes for line in lines] or [np.empty(0)])


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
    between[np.diff(logs) == 0] = 0  # equal probes share a state
    cut = least - 1 + int(np.argmax(between[least - 1 : count - least]))
    if logs[cut] == logs[cut + 1] or np.median(logs[cut + 1 :]) - np.median(logs[: cut + 1]) < APART:
        return None
    return float(np.exp((logs[cut] + logs[cut + 1]) / 2))


Typical = dict[str | None, float]


def typical_probes(probe: np.ndarray) -> Typical:
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
    """Near is compared with near and far with far where both sides have two states; a side of one state with that state of the other whose
    probe is like its own; everything else as it is. Of launches that saw a state in fewer than five samples none are left.
    """
    a, b = (typical_probes(_probes(side)) for side in (first, second))
    both = [(NEAR, NEAR), (FAR, FAR)] if len(a) == len(b) == 2 else [(_like(a, b), _like(b, a))]
    return [Matched(one or other, _of_state(first, one), _of_state(second, other)) for one, other in both]


def _probes(side: Side) -> np.ndarray:
    return np.concatenate([launch.probe for launch in side] or [np.empty(0)])


def _like(mine: Typical, other: Typical) -> str | None:
    """Of two states, that one whose probe is like the other side's only one."""
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


LEAST_FOR_RESEMBLANCE, MOST_RESEMBLANCE, CHANCE = 20, 0.95, 0.05


def median_interval(launches: Sequence[np.ndarray]) -> tuple[Interval, Method | None]:
    """The interval of the median of all samples, widened where needed to hold it, and how it was found; none where samples are too few."""
    if not enough(map(len, launches)):
        return NO_INTERVAL, None
    if len(launches) == 1:
        return _order_statistics(launches[0]), Method.ORDER
    medians = np.array([np.median(samples) for samples in launches])
    if not medians.min() > 0:  # zeros of a coarse clock have no logarithm
        return Interval(float(medians.min()), float(medians.max())), Method.RANGE
    low, high = paired(np.log(medians)).interval(CONFIDENCE)
    median = float(np.median(np.concatenate(launches)))
    return Interval(min(low or 0.0, median), max(high or 0.0, median)), Method.LAUNCHES


def enough(counts: Iterable[int]) -> bool:
    """Whether so many independent samples could tell where their median lies: all lie on one side of it once in 2 ** (count - 1)."""
    count = sum(counts)
    return count > 1 and 0.5 ** (count - 1) <= 1 - CONFIDENCE


def _order_statistics(samples: np.ndarray) -> Interval:
    """Of a confidence the higher the more each sample resembles the one before it."""
    from scipy import stats

    wider = 1 - 2 * stats.norm.sf(stats.norm.ppf((1 + CONFIDENCE) / 2) * _inflation(samples))
    low, high = stats.quantile_test(samples, p=0.5).confidence_interval(wider)
    return Interval(*(float(end) if np.isfinite(end) else None for end in (low, high)))


def _inflation(samples: np.ndarray) -> float:
    """By how much the error of a median grows because each sample resembles the one before it, as in a process AR(1); 1 where that may be chance."""
    from scipy import stats

    before, after = samples[:-1], samples[1:]
    if len(samples) < LEAST_FOR_RESEMBLANCE or not (np.ptp(before) and np.ptp(after)):
        return 1.0
    found = stats.spearmanr(before, after, alternative="greater")
    if found.pvalue > CHANCE:
        return 1.0
    resemblance = min(float(found.statistic), MOST_RESEMBLANCE)
    return float(np.sqrt((1 + resemblance) / (1 - resemblance)))


@dataclass(frozen=True)
class Summary:
    """Figures in seconds; `count` samples from `launches` launches."""

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


def summarize(launches: Sequence[Sequence[float] | np.ndarray]) -> Summary | None:
    """The summary of samples given launch by launch; `None` when there is no sample."""
    arrays = [np.asarray(samples, dtype=float) for samples in launches if len(samples)]
    if not arrays:
        return None
    samples = np.concatenate(arrays)
    interval, method = median_interval(arrays)
    p5, median, p95, p99 = (float(value) for value in np.quantile(samples, [0.05, 0.5, 0.95, 0.99]))
    std = float(samples.std(ddof=1)) if len(samples) > 1 else None
    mean_std_us = mean_std((samples * 1e6).tolist())
    return Summary(len(samples), len(arrays), median, interval, p5, p95, p99, float(samples.mean()), std, mean_std_us, method)


def mean_std(samples: Sequence[float]) -> str:
    """`mean(std)`: the digits in brackets stand for the last digits of the mean (GUM 7.2.2); the standard deviation is that of one sample.

    One sample has none and is given without brackets, as the published tables do; samples that are all equal give `(0)`.
    """
    if not len(samples) or not all(map(math.isfinite, samples)):
        return "–"
    mean = statistics.fmean(samples)
    return f"{mean:.6g}" if len(samples) == 1 else value_with_uncertainty(mean, statistics.stdev(samples))


def value_with_uncertainty(value: float, std: float) -> str:
    """`value(std)`, both given; the package `uncertainties` knows the rounding (9.96 and 0.095 give `10.0(1)`)."""
    from uncertainties import ufloat

    if not (math.isfinite(value) and math.isfinite(std)):
        return "–"
    if std <= abs(value) * 1e-12:
        return f"{value:.6g}(0)"
    return f"{ufloat(value, std):.1ufS}"


# Cross-validation: both halves may choose a variant that is fast by chance. For equal variants their results correlate, by 0.36 at
# most (three variants) and more with unequal halves, which a t test ignores.
HALVES_AGREE = math.sqrt(1.6)
Samples = Mapping[Any, np.ndarray]  # of one variant, by launch number
Quotient = tuple[Sequence[Samples], Sequence[Samples]]  # fastest of the first variants over fastest of the second


class Ratio(NamedTuple):
    """Without enough samples there is neither a value nor an interval."""

    value: float | None = None
    interval: Interval = NO_INTERVAL
    method: str | None = None


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """That of the positive ratios, or `None` when there is none."""
    values = [value for value in ratios if value and math.isfinite(value)]
    return statistics.geometric_mean(values) if values else None


def ratio(cases: Sequence[Quotient]) -> Ratio:
    """The geometric mean over cases of fastest of `above` / fastest of `below`, as `(above, below)` for each case.

    Only launches in which all were measured count, so that what a launch did to all alike cancels; of a single launch,
    consecutive batches are compared.
    """
    variants = [samples for above, below in cases for samples in (*above, *below)]
    common = sorted(set.intersection(*map(set, variants))) if variants else []
    if not common or not all(above and below for above, below in cases):
        return Ratio()
    if not all(enough(len(samples[number]) for number in common) for samples in variants):
        return Ratio()
    found = paired(np.mean([_fastest(above, common) - _fastest(below, common) for above, below in cases], axis=0))
    method: str = Method.RATIOS if len(common) > 1 else Method.BATCHES
    if any(len(side) > 1 for case in cases for side in case):
        found, method = found._replace(error=HALVES_AGREE * found.error), method + Method.CHOSEN
    return Ratio(math.exp(found.shift), found.interval(CONFIDENCE), str(method))


def _fastest(side: Sequence[Samples], common: Sequence[int]) -> np.ndarray:
    """Logarithms of the medians of the fastest variant, launch by launch, or batch by batch of the only launch.

    Which one that is, the other half of the launches tells: in the launches that chose it, the fastest of several is also the luckiest.
    """
    parts = [[each[number] for number in common] if len(common) > 1 else np.array_split(each[common[0]], BATCHES) for each in side]
    logs = np.log(np.maximum([[np.median(samples) for samples in each] for each in parts], 1e-12))
    launches = np.arange(logs.shape[1])
    half = launches < len(launches) // 2
    chosen = np.where(half, logs[:, ~half].mean(axis=1).argmin(), logs[:, half].mean(axis=1).argmin())
    return logs[chosen, launches]


LEAST_OF_SINGLE = 3  # samples, if a side has one launch
RUNS_DIFFER = 0.02  # p-value of an analysis of variance


class Kind(StrEnum):
    """What one value stands for."""

    LAUNCHES = "launches"
    PAIRS = "pairs of launches"
    RUNS = "runs"
    BATCHES = "batches of samples"


class Units(NamedTuple):
    """Middles of logarithms, units × states; NaN where a unit saw too little of a state."""

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
        columns = zip(self.states, self.first.T, self.second.T)
        seen = [(state, a[np.isfinite(a)], b[np.isfinite(b)]) for state, a, b in columns if state]
        return {state: float(np.exp(b.mean() - a.mean())) for state, a, b in seen if len(a) and len(b)}


def units(first: Side, second: Side) -> Units:
    """Launches that were made in pairs stay together, if there are two pairs. A side with one launch is cut into batches. Runs are the units
    where both sides have several and those of a side differ by more than their launches.
    """
    matched = by_state(first, second)
    states = [each.state for each in matched]
    tables = _table([each.first for each in matched]), _table([each.second for each in matched])
    pairs = _paired_rows(first, second, *tables)
    if len(pairs[0]) > 1:
        return Units(Kind.PAIRS, *pairs, states)
    if min(len(first), len(second)) == 1:
        # The state with most samples on both sides.
        most = max(matched, key=lambda each: min(sum(len(launch.samples) for launch in side) for side in (each.first, each.second)))
        return Units(Kind.BATCHES, _batches(most.first), _batches(most.second), [most.state])
    runs = [_by_run(side, table) for side, table in zip((first, second), tables)]
    if min(map(len, runs)) > 1 and any(map(_differ, runs)):
        return _common(Kind.RUNS, _means(runs[0]), _means(runs[1]), states)
    return _common(Kind.LAUNCHES, *tables, states)


def _table(by_state: Sequence[Sequence[Launch]]) -> np.ndarray:
    return np.array([[middle(np.log(launch.samples)) if len(launch.samples) else np.nan for launch in state] for state in by_state]).T


def _paired_rows(first: Side, second: Side, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of those pairs that saw a common state, pair by pair."""
    partners = {launch.pair: number for number, launch in enumerate(second) if launch.pair}
    found = [(number, partners[launch.pair]) for number, launch in enumerate(first) if launch.pair in partners]
    chosen = a[[number for number, _ in found]], b[[number for _, number in found]]
    seen = np.isfinite(chosen[0] + chosen[1]).any(axis=1)
    return chosen[0][seen], chosen[1][seen]


def _batches(side: Side) -> np.ndarray:
    """Of the only launch, consecutive samples, so that batches resemble each other far less than neighboring samples do."""
    if len(side) > 1:
        table = _table([side])
        return table[np.isfinite(table[:, 0])]
    samples = side[0].samples
    batches = np.array_split(np.log(samples), min(BATCHES, len(samples))) if len(samples) >= LEAST_OF_SINGLE else []
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
    return Units(kind, kept[0], kept[1], [state for state, use in zip(states, usable) if use])


class Verdict(StrEnum):
    """B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference beyond the margin"
    NOT_ENOUGH = "not enough samples"


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


@dataclass(frozen=True)
class Difference:
    """B against A. `ratio` above 1: B takes longer. Without enough samples the figures are `None`.

    `units` is how many values of which `kind` were compared on each side; `states` has the ratio in each state of the machine.
    `judge` fills in the p value, adjusted for the number of differences, the verdict, and `why` the verdict is none although the interval excludes 1.
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
        """A side has but one launch, so that its samples had to be compared: another launch may have drawn others."""
        return self.kind is Kind.BATCHES


def difference(first: Side, second: Side) -> Difference:
    """Compare two sides, given launch by launch in the order of time: the middle of each, on logarithms, is one value in a t test."""
    if not (first and second):
        return Difference(units=(len(first), len(second)))
    found = units(first, second)
    shift = found.shift()
    if shift is None:
        return Difference(units=found.counts, kind=found.kind)
    return Difference(float(np.exp(shift.shift)), shift.interval(CONFIDENCE), shift, found.counts, found.kind, found.ratios())


@dataclass(frozen=True)
class Rules:
    """When a difference counts.

    `alpha` bounds the share of false findings (Benjamini & Hochberg 1995), and where nothing has changed the chance that anything at
    all is found: 3 %, so that it stays below 5 % where noise is not as normal as t tests assume. A difference below `least` is never
    one; with one launch, which itself may make the difference, below `least_single`. Nothing found counts as "no difference beyond
    the margin" only when the interval leaves no room for one of `margin`. A machine that drifts makes a shift of `drift` by itself
    from one run to the next: only what is surely beyond that is a difference.
    """

    alpha: float = 0.03
    least: float = 0.01
    least_single: float = 0.03
    margin: float = 0.05
    drift: float = 0.0


DEFAULT_RULES = Rules()
IMAGE_RULES = Rules(drift=0.03)  # two software images cannot run interleaved


def judge(differences: Sequence[Difference], rules: Rules = DEFAULT_RULES) -> list[Difference]:
    """The same with what may be said of each; all of them are one family of tests."""
    from scipy import stats

    known = [each.shift.p_beyond(math.log1p(rules.drift)) for each in differences if each.shift]
    adjusted = iter(stats.false_discovery_control(known) if len(known) > 1 else known)
    values = [float(next(adjusted)) if each.shift else None for each in differences]
    judged = [replace(each, p_adjusted=p, verdict=_verdict(each, p, rules)) for each, p in zip(differences, values)]
    return [replace(each, why=_why(each, rules, len(known))) for each in judged]


def _why(found: Difference, rules: Rules, family: int) -> str:
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

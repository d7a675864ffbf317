"""The results of one run: case lines of several launches joined by case and variant, their figures, and what a reader should know of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from ..record.model import Case
from ..record.read import Record
from .statistics import FAR, LEAST_SAMPLES, Interval, Ratio, Summary, all_probes, geometric_mean, ratio, state_boundary, summarize, typical_probes
from .words import microseconds, product

OWN, BASELINE, LIBRARY = "own", "baseline", "library"


@dataclass
class Entry:
    """One variant on one case, over all launches."""

    name: str
    params: dict[str, Any]
    variant: str
    role: str
    lines: list[Case] = field(default_factory=list)

    @property
    def launches(self) -> list[np.ndarray]:
        """Seconds per exchange, one array per launch that gave samples."""
        return list(self.by_launch.values())

    @property
    def by_launch(self) -> dict[tuple[int, int], np.ndarray]:
        """The same by the numbers of the launches; of several runs joined, each number is there several times, and counted."""
        seen: Counter[int] = Counter()
        found = {}
        for line in self.lines:
            seen[line.launch] += 1
            if line.samples:
                found[line.launch, seen[line.launch]] = np.asarray(line.samples)
        return found

    @cached_property
    def summary(self) -> Summary | None:
        return summarize(self.launches)

    @property
    def verified(self) -> bool:
        """True when every launch that measured also verified every value."""
        measured = [line.verified for line in self.lines if not line.skipped]
        return bool(measured) and all(verdict is True for verdict in measured)

    @property
    def failed(self) -> bool:
        """A value was wrong, or the variant broke down, in at least one launch."""
        return any(line.verified is False and not line.skipped for line in self.lines)

    @property
    def ran(self) -> bool:
        """It gave samples, or it failed; one that was skipped did not run."""
        return self.failed or any(line.samples for line in self.lines)

    @property
    def median(self) -> float | None:
        """Of a verified variant; a timing of wrong values does not count."""
        return self.summary.median if self.summary and not self.failed else None

    def first(self, name: str) -> Any:
        return next((value for line in self.lines if (value := getattr(line, name)) not in (None, "")), None)

    @property
    def error(self) -> str | None:
        return self.first("error") or ("a value was wrong" if self.failed else None)

    @property
    def skipped(self) -> str | None:
        return self.first("skipped")

    @property
    def energy_j(self) -> float | None:
        """Joules of all processors per exchange, mean over the launches that told them."""
        told = [line.energy_j for line in self.lines if line.energy_j is not None]
        return float(np.mean(told)) if told else None

    @property
    def phases_s(self) -> dict[str, float]:
        """Medians over the samples of those launches that told phases."""
        told = [line.phases_s for line in self.lines if line.phases_s]
        return {name: float(np.median(np.concatenate([each.get(name, []) for each in told]))) for name in (told[0] if told else ())}

    @property
    def setup_s(self) -> dict[str, float]:
        parts: dict[str, list[float]] = {}
        for line in self.lines:
            for part, seconds in (line.setup_s or {}).items():
                if seconds is not None:
                    parts.setdefault(part, []).append(seconds)
        return {part: float(np.median(values)) for part, values in parts.items()}


@dataclass
class CaseResult:
    """All variants on one case. Speeds are times the best baseline's: above 1 is faster than hand-written MPI."""

    name: str
    params: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    _ratios: dict[str, Ratio] = field(default_factory=dict, repr=False, compare=False)  # cache for repeated tables

    @cached_property
    def best_baseline(self) -> Entry | None:
        return self.best(BASELINE)

    @cached_property
    def fastest(self) -> Entry | None:
        """The fastest verified variant; a floor only tells what copying alone would take."""
        return _fastest(entry for entry in self.entries.values() if entry.role != "floor")

    def relative(self, variant: str) -> float | None:
        """Time over that of the best baseline: below 1 is faster."""
        speed = self.speed(variant)
        return 1 / speed if speed else None

    def speed(self, variant: str) -> float | None:
        return self.ratio(variant).value

    def speed_interval(self, variant: str) -> Interval:
        return self.ratio(variant).interval

    def ratio(self, variant: str) -> Ratio:
        """The speed with its interval. Where samples are too few for one, it is the ratio of the medians."""
        if variant not in self._ratios:
            self._ratios[variant] = self._ratio(self.entries.get(variant))
        return self._ratios[variant]

    def _ratio(self, entry: Entry | None) -> Ratio:
        best = self.best_baseline
        if not (entry and entry.median and best and best.median):
            return Ratio()
        if entry is best:
            return Ratio(1.0)
        found = _ratio_of([(self, [entry])])
        return found if found.value else Ratio(best.median / entry.median)

    def of_role(self, role: str) -> list[Entry]:
        """All variants of a role whose values were right."""
        return [entry for entry in self.entries.values() if entry.role == role and entry.median]

    def best(self, role: str) -> Entry | None:
        return _fastest(self.of_role(role))


Speeds = Sequence[tuple[CaseResult, Sequence[Entry]]]  # cases, each with its compared variants


def _ratio_of(cases: Speeds) -> Ratio:
    """The geometric mean over cases of the speed of the best of these variants."""
    return ratio([([entry.by_launch for entry in case.of_role(BASELINE)], [entry.by_launch for entry in entries]) for case, entries in cases])


def mean_speed(cases: Speeds) -> tuple[float | None, Interval]:
    """That geometric mean with its 95 % interval; cases without a baseline or without such a variant do not count."""
    counted = [(case, [entry for entry in entries if case.speed(entry.variant)]) for case, entries in cases]
    counted = [(case, entries) for case, entries in counted if entries]
    found = _ratio_of(counted)
    if found.value:
        return found.value, found.interval
    return geometric_mean(max(case.speed(entry.variant) or 0.0 for entry in entries) for case, entries in counted), found.interval


def of_variant(cases: Iterable[CaseResult], name: str) -> Speeds:
    """The cases with that variant alone."""
    return [(case, [case.entries[name]]) for case in cases if name in case.entries]


def over_floor(cases: Iterable[CaseResult], name: str) -> Ratio:
    """How many times as long as copying alone that variant takes, geometric mean over the cases that have both."""
    found = [(case.entries.get(name), case.of_role("floor")) for case in cases]
    return ratio([([entry.by_launch], [floor.by_launch for floor in floors]) for entry, floors in found if entry and entry.median and floors])


def with_seam(cases: Sequence[CaseResult]) -> list[tuple[CaseResult, dict[str, Ratio]]]:
    """Cases with a seam, and for each variant its time over that in the case which is alike but for the seam."""
    found = []
    for case in in_order([case for case in cases if "seam" in case.params]):
        alike = {name: value for name, value in case.params.items() if name != "seam"}
        plain = {name: entry for other in cases if other.params == alike for name, entry in other.entries.items() if entry.median}
        ratios = {name: ratio([([entry.by_launch], [plain[name].by_launch])]) for name, entry in case.entries.items() if entry.median and name in plain}
        found.append((case, {name: each for name, each in ratios.items() if each.value}))
    return found


def _fastest(entries: Iterable[Entry]) -> Entry | None:
    return min((entry for entry in entries if entry.median), key=lambda entry: entry.median or 0.0, default=None)


def results(cases: Iterable[Case]) -> list[CaseResult]:
    """Cases in the order in which they were first measured, variants likewise."""
    joined: dict[tuple[str, bytes], CaseResult] = {}
    for line in cases:
        key = (line.name, msgspec.json.encode(line.params, order="deterministic"))
        case = joined.setdefault(key, CaseResult(line.name, line.params))
        entry = case.entries.setdefault(line.variant, Entry(line.name, line.params, line.variant, line.role))
        entry.lines.append(line)
    return list(joined.values())


RARE = 0.1  # share of the samples: rarer states get no tables
LEAST_EACH = 6  # samples of a variant on a case: fewer give no interval


def by_state(record: Record) -> list[tuple[str, list[CaseResult]]]:
    """The results of each state of the cores, with words for it. Samples whose state is unknown are in none of two, those of a rare one nowhere;
    where samples are too few to be told apart, all are together."""
    cases, probes = results(record.cases), all_probes(record.cases)
    boundary, typical = state_boundary(probes), typical_probes(probes)
    if boundary is None:
        return [("".join(f"cores {probe:.0f} ns apart" for probe in typical.values()), cases)]
    states = {state: f"{state} ({probe:.0f} ns)" for state, probe in typical.items()}
    counts = {state: np.count_nonzero((probes[probes > 0] > boundary) == (state == FAR)) for state in states}
    kept = {state: f"cores {words}" for state, words in states.items() if counts[state] >= RARE * sum(counts.values())}
    timed = sum(any(line.samples for line in entry.lines) for entry in entries(cases))
    if min(counts[state] for state in kept) < LEAST_EACH * timed:
        return [(f"cores {' or '.join(states.values())}", cases)]
    return [(words, results(_in_state(record.cases, boundary, state == FAR))) for state, words in kept.items()]


def _in_state(cases: Iterable[Case], boundary: float, far: bool) -> Iterator[Case]:
    """Cases with those samples alone. Of those that have none only such as were not run stay."""
    for case in cases:
        kept = np.flatnonzero(((case.probes > boundary) == far) & np.isfinite(case.probes))
        if len(kept):
            lists = {name: [values[each] for each in kept] for name in ("samples", "exchange_s", "skew_s", "last_rank", "probe_ns") if (values := getattr(case, name))}
            yield msgspec.structs.replace(case, **lists, samples_by_rank=[[values[each] for each in kept] for values in case.samples_by_rank],
                                          phases_s={name: [values[each] for each in kept] for name, values in case.phases_s.items()})
        elif not case.samples:
            yield case


def ours(case: CaseResult) -> Entry | None:
    """What users get: `auto` where it ran, else the fastest of the library."""
    entry = case.entries.get("auto")
    return entry if entry and entry.median else case.best(OWN)


def variants(cases: Iterable[CaseResult]) -> list[str]:
    """Every variant that occurs: the project's own first, then baselines, other libraries and floors."""
    order = (OWN, BASELINE, LIBRARY, "floor")
    roles = {entry.variant: entry.role for entry in entries(cases)}
    return sorted(roles, key=lambda name: order.index(roles[name]) if roles[name] in order else len(order))


def entries(cases: Iterable[CaseResult]) -> list[Entry]:
    return [entry for _, entry in with_case(cases)]


def with_case(cases: Iterable[CaseResult]) -> list[tuple[CaseResult, Entry]]:
    """The same, each beside its case."""
    return [(case, entry) for case in cases for entry in case.entries.values()]


def reasons(cases: Iterable[CaseResult]) -> dict[tuple[str, str], list[str]]:
    """Why variants failed or were skipped, each reason once, with those that it met."""
    met: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries(cases):
        for kind, why in (("failed", entry.error), ("skipped", entry.skipped)):
            if why:
                met.setdefault((kind, why), {})[entry.variant] = None
    return {reason: list(names) for reason, names in met.items()}


T = TypeVar("T")
# By importance to readers; others follow.
FIRST = ("test", "app", "dataset", "ranks", "grid", "extent", "halo", "fields", "size", "vdim", "element", "components")


def text(value: Any) -> str:
    """A parameter's value as people write it: `64×64×64`, the last part of a path."""
    if value is None:
        return "–"  # without this parameter
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return product(value)
    return PurePath(value).name if isinstance(value, str) and "/" in value else str(value)


def varying(cases: Sequence[CaseResult]) -> list[str]:
    """The parameters in which the cases differ, or the first known one when there is but one case."""
    names = _names(cases)
    differing = [name for name in names if len({text(case.params.get(name)) for case in cases}) > 1]
    return differing or names[:1]


def constant(cases: Sequence[CaseResult]) -> dict[str, str]:
    if not cases:
        return {}
    changing = varying(cases)
    return {name: text(cases[0].params[name]) for name in _names(cases) if name not in changing and name in cases[0].params}


def in_order(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Cases by their varying parameters, numbers as numbers, names with numbers in them likewise."""
    names = varying(cases)
    return sorted(cases, key=lambda case: [_order_key(case.params.get(name)) for name in names])


def _names(cases: Sequence[CaseResult]) -> list[str]:
    seen = dict.fromkeys(name for case in cases for name in case.params)
    return [*(name for name in FIRST if name in seen), *(name for name in seen if name not in FIRST)]


def _order_key(value: Any) -> list[tuple[int, float, str]]:
    parts = re.split(r"(\d+\.?\d*)", text(value))
    return [(0, float(part), "") if part[:1].isdigit() else (1, 0.0, part) for part in parts if part]


def case_label(case: CaseResult, cases: Sequence[CaseResult]) -> str:
    return ", ".join(f"{name} {text(case.params.get(name))}" for name in varying(cases))


def some(values: Sequence[T], most: int) -> list[T]:
    """At most `most` of the values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


class Wording(NamedTuple):
    title: str
    of: str = "exchange"
    base: str = "the best hand-written baseline"
    compared: bool = True


WORDING = {
    "halo": Wording("Halo exchange"),
    "gather": Wording("Index-map gather"),
    "alltoall": Wording("Alltoall", "call", "MPI_Alltoall"),
    "ghosts": Wording("Ghost rows"),
    "osu": Wording("OSU Micro-Benchmarks"),
    "imb": Wording("Intel MPI Benchmarks"),
    "comb": Wording("Comb"),
    "apps": Wording("Whole applications", "step"),
    "setup": Wording("Set-up", "stage", "", compared=False),
}


def wording(benchmark: str) -> Wording:
    return WORDING.get(benchmark, Wording(benchmark))


def told(summary: Summary | None) -> dict[str, Any]:
    """The figures of a summary for a document, in seconds; each None without a summary."""
    names = {"p5_s": "p5", "median_s": "median", "ci95_s": "interval", "p95_s": "p95", "p99_s": "p99", "mean_s": "mean", "std_s": "std", "mean_std_us": "mean_std_us"}
    return {key: summary and getattr(summary, name) for key, name in names.items()}


MUCH_APART = 0.25  # share of an exchange's time
MOSTLY = 0.75  # share of the samples
MOST_TOLD = 3


class Skew(NamedTuple):
    """Medians over samples, in seconds per exchange: `apart` while some ranks are in the exchange and others are not, `together`
    while all are in it. `rank` is last in a `share` of the samples."""

    apart: float
    together: float
    rank: int
    share: float

    @property
    def matters(self) -> bool:
        """One and the same rank takes much of the time."""
        return self.apart > MUCH_APART * (self.apart + self.together) and self.share >= MOSTLY


def skew(entry: Entry) -> Skew | None:
    """`None` where the record does not tell, as those of older builds, or where a value was wrong."""
    lines = [line for line in entry.lines if line.skew_s]
    if not lines or entry.failed:
        return None
    apart = np.concatenate([line.skew_s for line in lines])
    whole = np.concatenate([line.samples for line in lines])
    rank, count = Counter(rank for line in lines for rank in line.last_rank).most_common(1)[0]
    return Skew(float(np.median(apart)), float(np.median(np.maximum(whole - apart, 0))), rank, count / len(apart))


WIDE = 0.25  # relative width of an uninformative interval
MANY = 0.2
MUCH = 1.5  # load per core, above that of the previous launch


def remarks(record: Record, cases: Sequence[CaseResult]) -> list[str]:
    """Notes of the reader, shared cores, a busy machine, two states of the cores, ranks that the others wait for."""
    return [*record.notes, *_cores(record), *_busy(cases), *_states(record), *_skewed(cases)]


def _cores(record: Record) -> Iterator[str]:
    """Cores that ranks shared, or that were busy before the ranks were started."""
    environment, crowded = record.run.environment, set[tuple[int, int]]()
    # The cores of the launching process; the binding of bound ranks is more precise.
    most = [max(launch.cores.values()) for launch in record.launches if launch.cores]
    told = environment.get("cpu")
    usable = told.get("usable_cores") if isinstance(told, dict) else None
    all_cores = max([*most, usable] if isinstance(usable, int) else most, default=None)
    for launch in record.launches:
        # Without host names, counts all ranks on one host.
        hosts = Counter(map(str, launch.hosts)) if len(launch.hosts) == launch.ranks else {"": launch.ranks}
        by_host = [(ranks, (launch.cores or {}).get(host) or all_cores) for host, ranks in hosts.items()]
        crowded |= {(ranks, cores) for ranks, cores in by_host if cores is not None and ranks > cores}
    if crowded:
        shared = ", ".join(f"{ranks} ranks shared {cores} {'core' if cores == 1 else 'cores'}" for ranks, cores in sorted(crowded))
        yield f"{shared}: these figures include waits for a core"
    try:
        load = float(str(environment.get("load")).split()[0])
    except (ValueError, IndexError):
        return
    if all_cores is not None and load > MUCH * all_cores:
        on = f"{all_cores} {'core' if all_cores == 1 else 'cores'}"
        yield f"the load was {load:g} on {on} before the ranks were started: other work may have run beside them"


def _busy(cases: Sequence[CaseResult]) -> Iterator[str]:
    timed = [entry.summary for entry in entries(cases) if entry.summary]
    widths = [(summary.interval.width, summary.median) for summary in timed]
    unknown = sum(width is None for width, _ in widths)
    wide = sum(width is not None and not width <= WIDE * median for width, median in widths)
    if wide + unknown > MANY * len(timed):
        seen = [f"wider than {WIDE:.0%} of the median in {wide}"] if wide else []
        seen += [f"unknown, for samples are too few, in {unknown}"] if unknown else []
        yield (f"the interval is {' and '.join(seen)} of {len(timed)} timings: the machine was busy or samples are few; repeat when it "
               "is quiet, or with more --repetitions or --launches")


def _states(record: Record) -> Iterator[str]:
    probes = all_probes(record.cases)
    boundary = state_boundary(probes)
    if boundary is not None:
        near, far = typical_probes(probes).values()
        share = np.mean(probes[probes > 0] <= boundary)
        yield (f"core-to-core latency had two states, {near:.0f} ns in {share:.0%} of the samples "
               f"and {far:.0f} ns in the others: {_told_apart(record)}")


def _told_apart(record: Record) -> str:
    tables = by_state(record)
    if " or " in tables[0][0]:
        return "samples are too few to tell them apart; medians mix them, ratios within a run do not"
    return "each has its tables" if len(tables) > 1 else "the rarer state is left out of the tables"


def _skewed(cases: Sequence[CaseResult]) -> Iterator[str]:
    """Ranks for which the others wait, those first for which they wait longest."""
    found = [(told, case, entry) for case, entry in with_case(cases)
             if entry.role != "floor" and (told := skew(entry)) and told.matters
             and sum(len(line.last_rank) for line in entry.lines) >= LEAST_SAMPLES]
    found.sort(key=lambda each: -each[0].apart)
    texts = [f"ranks arrive {microseconds(told.apart)} µs apart in {entry.variant}{f' ({case_label(case, cases)})' if len(cases) > 1 else ''}: the exchange "
             f"waits for rank {told.rank}, and takes {microseconds(told.together)} µs with all ranks in it" for told, case, entry in found[:MOST_TOLD]]
    if texts:
        more = f"; so in {len(found) - MOST_TOLD} more timings" if len(found) > MOST_TOLD else ""
        yield "; ".join(texts) + more + ": likely causes are uneven work or a disturbed rank, not the exchange"

"""Results of one run: case lines of all launches joined by case and variant, with summaries and warnings."""

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
        """Seconds per exchange, one array per launch with samples."""
        return list(self.by_launch.values())

    @property
    def by_launch(self) -> dict[tuple[int, int], np.ndarray]:
        """Seconds per exchange by (launch, occurrence): joined runs repeat launch numbers."""
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
        """Whether every launch that ran verified all values."""
        measured = [line.verified for line in self.lines if not line.skipped]
        return bool(measured) and all(verdict is True for verdict in measured)

    @property
    def failed(self) -> bool:
        """Whether a value was wrong or the variant failed in a launch."""
        return any(line.verified is False and not line.skipped for line in self.lines)

    @property
    def ran(self) -> bool:
        """Whether the variant has samples or failed, that is, was not skipped."""
        return self.failed or any(line.samples for line in self.lines)

    @property
    def median(self) -> float | None:
        """Median in seconds; `None` if the variant failed or has no samples."""
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
        """Joules of all processors per exchange, mean over launches that recorded them."""
        told = [line.energy_j for line in self.lines if line.energy_j is not None]
        return float(np.mean(told)) if told else None

    @property
    def phases_s(self) -> dict[str, float]:
        """Median seconds by phase, over launches that recorded phases."""
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
    """All variants on one case; speeds are relative to the best baseline, above 1 is faster than hand-written MPI."""

    name: str
    params: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    _ratios: dict[str, Ratio] = field(default_factory=dict, repr=False, compare=False)  # cache

    @cached_property
    def best_baseline(self) -> Entry | None:
        return self.best(BASELINE)

    @cached_property
    def fastest(self) -> Entry | None:
        """The fastest correct variant; floors (copying alone) do not count."""
        return _fastest(entry for entry in self.entries.values() if entry.role != "floor")

    def relative(self, variant: str) -> float | None:
        """Time / the best baseline's time; below 1 is faster."""
        speed = self.speed(variant)
        return 1 / speed if speed else None

    def speed(self, variant: str) -> float | None:
        return self.ratio(variant).value

    def speed_interval(self, variant: str) -> Interval:
        return self.ratio(variant).interval

    def ratio(self, variant: str) -> Ratio:
        """Speed with its interval; with too few samples, the ratio of the medians alone."""
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
        """All correct variants of a role."""
        return [entry for entry in self.entries.values() if entry.role == role and entry.median]

    def best(self, role: str) -> Entry | None:
        return _fastest(self.of_role(role))


Speeds = Sequence[tuple[CaseResult, Sequence[Entry]]]  # cases, each with the variants to consider


def _ratio_of(cases: Speeds) -> Ratio:
    """Geometric mean over cases of the speed of the fastest given variant."""
    return ratio([([entry.by_launch for entry in case.of_role(BASELINE)], [entry.by_launch for entry in entries]) for case, entries in cases])


def mean_speed(cases: Speeds) -> tuple[float | None, Interval]:
    """Geometric mean with 95 % interval of the fastest given variant's speed, over cases with a baseline and a variant."""
    counted = [(case, [entry for entry in entries if case.speed(entry.variant)]) for case, entries in cases]
    counted = [(case, entries) for case, entries in counted if entries]
    found = _ratio_of(counted)
    if found.value:
        return found.value, found.interval
    return geometric_mean(max(case.speed(entry.variant) or 0.0 for entry in entries) for case, entries in counted), found.interval


def of_variant(cases: Iterable[CaseResult], name: str) -> Speeds:
    """Select one variant of each case that has it."""
    return [(case, [case.entries[name]]) for case in cases if name in case.entries]


def over_floor(cases: Speeds) -> Ratio:
    """Time of the fastest given variant / time of copying alone (floor), geometric mean over the cases with both."""
    found = [([entry.by_launch for entry in given if entry.median], [floor.by_launch for floor in case.of_role("floor")]) for case, given in cases]
    return ratio([each for each in found if all(each)])


@dataclass(frozen=True)
class Headline:
    """`auto`, the only own variant, or each case's fastest, against each case's best baseline; speeds are baseline time / own time."""

    variant: str
    speeds: Speeds
    mean: float | None
    interval: Interval


def headline(cases: Sequence[CaseResult]) -> Headline:
    names = {entry.variant for case in cases for entry in case.of_role(OWN) if case.speed(entry.variant)}
    if name := "auto" if "auto" in names or not names else names.pop() if len(names) == 1 else "":
        speeds = of_variant(cases, name)
    else:
        name, speeds = "the library's fastest variant", [(case, case.of_role(OWN)) for case in cases]
    counted = [(case, own) for case, given in speeds if (own := [entry for entry in given if case.speed(entry.variant)])]
    return Headline(name, counted, *mean_speed(counted))


def with_seam(cases: Sequence[CaseResult]) -> list[tuple[CaseResult, dict[str, Ratio]]]:
    """Cases with a seam, and each variant's time / its time in the same case without a seam."""
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
    """Join lines into cases and variants, in order of first occurrence."""
    joined: dict[tuple[str, bytes], CaseResult] = {}
    for line in cases:
        key = (line.name, msgspec.json.encode(line.params, order="deterministic"))
        case = joined.setdefault(key, CaseResult(line.name, line.params))
        entry = case.entries.setdefault(line.variant, Entry(line.name, line.params, line.variant, line.role))
        entry.lines.append(line)
    return list(joined.values())


RARE = 0.1  # least share of samples of a state with tables
LEAST_EACH = 6  # samples of a variant on a case that an interval needs


def by_state(record: Record) -> list[tuple[str, list[CaseResult]]]:
    """Split results by core state, with a description each; if samples are too few for that, do not split.

    Splitting drops samples of unknown or rare state.
    """
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


def usual_state(record: Record) -> tuple[str, list[CaseResult]]:
    """Description and results of the core state with the most samples: figures of a whole run must not mix states."""
    return most_samples(by_state(record))


def most_samples(states: Iterable[tuple[str, list[CaseResult]]]) -> tuple[str, list[CaseResult]]:
    return max(states, key=lambda each: sum(len(line.samples) for entry in entries(each[1]) for line in entry.lines))


def _in_state(cases: Iterable[Case], boundary: float, far: bool) -> Iterator[Case]:
    """Yield cases with the samples of one state; drop cases that lose all samples."""
    for case in cases:
        kept = np.flatnonzero(((case.probes > boundary) == far) & np.isfinite(case.probes))
        if len(kept):
            lists = {name: [values[each] for each in kept] for name in ("samples", "exchange_s", "skew_s", "last_rank", "probe_ns") if (values := getattr(case, name))}
            yield msgspec.structs.replace(case, **lists, samples_by_rank=[[values[each] for each in kept] for values in case.samples_by_rank],
                                          phases_s={name: [values[each] for each in kept] for name, values in case.phases_s.items()})
        elif not case.samples:
            yield case


def ours(case: CaseResult) -> Entry | None:
    """Return `auto` if it ran correctly, else the library's fastest variant."""
    entry = case.entries.get("auto")
    return entry if entry and entry.median else case.best(OWN)


def variants(cases: Iterable[CaseResult]) -> list[str]:
    """Names of all variants: own first, then baselines, other libraries, floors."""
    order = (OWN, BASELINE, LIBRARY, "floor")
    roles = {entry.variant: entry.role for entry in entries(cases)}
    return sorted(roles, key=lambda name: order.index(roles[name]) if roles[name] in order else len(order))


def entries(cases: Iterable[CaseResult]) -> list[Entry]:
    return [entry for _, entry in with_case(cases)]


def with_case(cases: Iterable[CaseResult]) -> list[tuple[CaseResult, Entry]]:
    """All entries, each with its case."""
    return [(case, entry) for case in cases for entry in case.entries.values()]


def reasons(cases: Iterable[CaseResult]) -> dict[tuple[str, str], list[str]]:
    """Map each kind and reason of failing or skipping to its variants."""
    met: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries(cases):
        for kind, why in (("failed", entry.error), ("skipped", entry.skipped)):
            if why:
                met.setdefault((kind, why), {})[entry.variant] = None
    return {reason: list(names) for reason, names in met.items()}


T = TypeVar("T")
# Display order; other parameters follow.
FIRST = ("test", "app", "dataset", "ranks", "grid", "extent", "halo", "fields", "size", "vdim", "element", "components")


def text(value: Any) -> str:
    """Format a parameter: `64×64×64`, `yes,no,yes`, the last part of a path."""
    if value is None:
        return "–"  # without this parameter
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(text, value)) if value and isinstance(value[0], bool) else product(value)
    return PurePath(value).name if isinstance(value, str) and "/" in value else str(value)


def varying(cases: Sequence[CaseResult]) -> list[str]:
    """Names of the parameters that differ between cases; the first name if none differs."""
    names = _names(cases)
    differing = [name for name in names if len({text(case.params.get(name)) for case in cases}) > 1]
    return differing or names[:1]


def constant(cases: Sequence[CaseResult]) -> dict[str, str]:
    if not cases:
        return {}
    changing = varying(cases)
    return {name: text(cases[0].params[name]) for name in _names(cases) if name not in changing and name in cases[0].params}


def in_order(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Sort cases by their varying parameters, numbers numerically."""
    names = varying(cases)
    return sorted(cases, key=lambda case: [_order_key(case.params.get(name)) for name in names])


def _names(cases: Sequence[CaseResult]) -> list[str]:
    seen = dict.fromkeys(name for case in cases for name in case.params)
    return [*(name for name in FIRST if name in seen), *(name for name in seen if name not in FIRST)]


def _order_key(value: Any) -> list[tuple[int, float, str]]:
    parts = re.split(r"(\d+\.?\d*)", text(value))
    return [(0, float(part), "") if part[:1].isdecimal() else (1, 0.0, part) for part in parts if part]


def case_label(case: CaseResult, cases: Sequence[CaseResult]) -> str:
    return ", ".join(f"{name} {text(case.params.get(name))}" for name in varying(cases))


def some(values: Sequence[T], most: int) -> list[T]:
    """At most `most` values, evenly spaced, including the first and the last."""
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
    """Return a summary's values for a document, in seconds; each `None` without a summary."""
    names = {"p5_s": "p5", "median_s": "median", "ci95_s": "interval", "p95_s": "p95", "p99_s": "p99", "mean_s": "mean", "std_s": "std", "mean_std_us": "mean_std_us"}
    return {key: summary and getattr(summary, name) for key, name in names.items()}


MUCH_APART = 0.25  # share of an exchange's time
MOSTLY = 0.75  # share of samples
MOST_TOLD = 3


class Skew(NamedTuple):
    """Median seconds per exchange with some ranks (`apart`) and all ranks (`together`) in it; `rank` is last in a `share` of samples."""

    apart: float
    together: float
    rank: int
    share: float

    @property
    def matters(self) -> bool:
        """Whether ranks wait long, mostly for the same rank."""
        return self.apart > MUCH_APART * (self.apart + self.together) and self.share >= MOSTLY


def skew(entry: Entry) -> Skew | None:
    """Return the skew; `None` if not recorded (older builds) or if the entry failed."""
    lines = [line for line in entry.lines if line.skew_s]
    if not lines or entry.failed:
        return None
    apart = np.concatenate([line.skew_s for line in lines])
    whole = np.concatenate([line.samples for line in lines])
    rank, count = Counter(rank for line in lines for rank in line.last_rank).most_common(1)[0]
    return Skew(float(np.median(apart)), float(np.median(np.maximum(whole - apart, 0))), rank, count / len(apart))


WIDE = 0.25  # relative width above which an interval is too wide
MANY = 0.2
MUCH = 1.5  # load per core that the previous run does not explain


def remarks(record: Record, cases: Sequence[CaseResult]) -> list[str]:
    """Warnings: reader's notes, shared cores, busy machine, two core states, late ranks."""
    return [*record.notes, *_cores(record), *_busy(cases), *_states(record), *_skewed(cases)]


def _cores(record: Record) -> Iterator[str]:
    """Warn of cores shared by ranks or loaded before the launch."""
    environment, crowded = record.run.environment, set[tuple[int, int]]()
    # Cores of the launching process, or of a launch's bound ranks if more.
    most = [max(launch.cores.values()) for launch in record.launches if launch.cores]
    told = environment.get("cpu")
    usable = told.get("usable_cores") if isinstance(told, dict) else None
    all_cores = max([*most, usable] if isinstance(usable, int) else most, default=None)
    for launch in record.launches:
        # Without hosts in the record, count all ranks as on one host.
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
        seen += [f"unknown (too few launches or samples) in {unknown}"] if unknown else []
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
    """Warn of late ranks, longest wait first."""
    found = [(told, case, entry) for case, entry in with_case(cases)
             if entry.role != "floor" and (told := skew(entry)) and told.matters
             and sum(len(line.last_rank) for line in entry.lines) >= LEAST_SAMPLES]
    found.sort(key=lambda each: -each[0].apart)
    texts = [f"ranks arrive {microseconds(told.apart)} µs apart in {entry.variant}{f' ({case_label(case, cases)})' if len(cases) > 1 else ''}: the exchange "
             f"waits for rank {told.rank}, and takes {microseconds(told.together)} µs with all ranks in it" for told, case, entry in found[:MOST_TOLD]]
    if texts:
        more = f"; so in {len(found) - MOST_TOLD} more timings" if len(found) > MOST_TOLD else ""
        yield "; ".join(texts) + more + ": likely causes are uneven work or a disturbed rank, not the exchange"

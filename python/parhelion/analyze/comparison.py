"""Comparing all cases of two sets of runs, and what differs around them; how often such a comparison is right, measured on one's own runs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import msgspec
import numpy as np

from ..record.folder import folders_with
from ..record.model import Case, RecordError, flatten
from ..record.model import Launch as RecordedLaunch
from ..record.read import FILE_NAME, Record, failed, read_record
from .results import CaseResult, Entry, entries, in_order, remarks, results, skew
from .statistics import APART, DEFAULT_RULES, DIFFERENT, Difference, Judged, Launch, Rules, Verdict, all_probes, difference, judge, typical_probes


@dataclass(frozen=True)
class RecordSet:
    """One or more runs of the same thing; their launches count alike."""

    name: str
    records: list[Record]

    @property
    def cases(self) -> list[CaseResult]:
        return results(line for record in self.records for line in record.cases)

    @property
    def remarks(self) -> list[str]:
        """What makes the figures of this side doubtful."""
        return list(dict.fromkeys(note for record in self.records for note in remarks(record, results(record.cases))))

    @property
    def launches(self) -> int:
        return sum(len(record.launches) for record in self.records)


def read_set(path: Path) -> RecordSet:
    """The run at `path`, or all runs in the folders right below it; raises `RecordError`."""
    runs = [] if (path / FILE_NAME).exists() else folders_with(FILE_NAME, path)
    if runs:
        return RecordSet(path.name, [read_record(run) for run in runs])
    record = read_record(path)
    return RecordSet(record.labels.get("image") or record.id, [record])


def check_comparable(sets: Sequence[RecordSet]) -> None:
    """Both sides must be of one benchmark."""
    benchmarks = {record.run.benchmark for each in sets for record in each.records}
    if len(benchmarks) > 1:
        raise RecordError(f"cannot compare runs of {' and '.join(sorted(benchmarks))}: give runs of one benchmark")


CLEARLY = 1.25  # times the median of the ranks; cores that lie unevenly make less
AS_BEFORE = 1.1  # a rank that was so far above it already has not become slow


def _above_the_median(cases: Sequence[CaseResult]) -> dict[str, np.ndarray]:
    """Per contender, by the fact's name: each rank's time over that of the median rank, in the median over all its samples."""
    lines: dict[tuple[str, int], list[Case]] = {}
    for entry in entries(cases):
        for line in entry.lines:
            if len(line.samples_by_rank) > 1 and line.samples:
                lines.setdefault((entry.contender, len(line.samples_by_rank)), []).append(line)
    return {f"slow ranks of {contender} on {ranks} ranks": _ratios(each) for (contender, ranks), each in lines.items()}


def late_ranks(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Per contender the ranks that come so late, in most samples of a case, that much of the time is the others' wait for them."""
    found: dict[str, set[int]] = {}
    for entry in entries(cases):
        if (told := skew(entry)) and told.matters:
            ranks = max(len(line.samples_by_rank) for line in entry.lines)
            found.setdefault(f"ranks that come late to {entry.contender} on {ranks} ranks", set()).add(told.rank)
    return [(name, ", ".join(map(str, sorted(late)))) for name, late in found.items()]


def _ratios(lines: Sequence[Case]) -> np.ndarray:
    times = np.concatenate([np.array(line.samples_by_rank) for line in lines], axis=1)
    # The lower middle, so that of two ranks the slower one is compared with the other.
    usual = np.sort(times, axis=0)[(len(times) - 1) // 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmedian(np.where(usual > 0, times / usual, np.nan), axis=1)


# What differs between any two runs and means nothing.
VOLATILE = ("load", "variables PMI", "variables MPI_LOCAL", "binding")


@dataclass(frozen=True)
class Change:
    """One fact: its values on both sides, `None` where a side lacks it."""

    name: str
    first: str | None
    second: str | None


@dataclass(frozen=True)
class Changes:
    """Differences by kind."""

    environment: list[Change]
    ranks: list[Change]
    libraries: list[Change]
    behavior: list[Change]

    @property
    def kinds(self) -> dict[str, list[Change]]:
        """Those that there are, by what people call them."""
        kinds = {"environment": self.environment, "ranks": self.ranks, "libraries": self.libraries, "messages and choices": self.behavior}
        return {kind: found for kind, found in kinds.items() if found}


def changes(first: RecordSet, second: RecordSet) -> Changes:
    """Compare what both sides told; a fact that varies within a side is shown with all its values."""
    environment, ranks, libraries, behavior = (differing(told(first), told(second)) for told in (_environment, _ranks, _libraries, _behavior))
    return Changes(environment, ranks, libraries, [*_slow_ranks(first, second), *behavior])


def _slow_ranks(first: RecordSet, second: RecordSet) -> list[Change]:
    """Ranks that are slow on one side, where they are others on the other side; not where one was nearly as slow there."""
    sides = [_above_the_median(side.cases) for side in (first, second)]
    found = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        ratios = [side.get(name) for side in sides]
        slow, nearly = ([set() if each is None else set(np.flatnonzero(each > above).tolist()) for each in ratios] for above in (CLEARLY, AS_BEFORE))
        if not (slow[0] <= nearly[1] and slow[1] <= nearly[0]):
            found.append(Change(name, *(", ".join(map(str, sorted(each))) or None for each in slow)))
    return found


Facts = dict[str, str]


def differing(first: Facts, second: Facts) -> list[Change]:
    """Facts that one side lacks, or that have other values there."""
    names = dict.fromkeys([*first, *second])
    return [Change(name, first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)]


def gathered(pairs: Iterable[tuple[str, str]]) -> Facts:
    """Facts by name, several values of one joined; what differs between any two runs is left out."""
    values: dict[str, dict[str, None]] = {}
    for name, value in pairs:
        values.setdefault(name, {})[value] = None
    return {name: " | ".join(sorted(each)) for name, each in values.items() if not name.startswith(VOLATILE)}


def _environment(side: RecordSet) -> Facts:
    return gathered(fact for record in side.records for fact in flatten(record.run.environment))


def _ranks(side: RecordSet) -> Facts:
    told = ({"ranks": launch.ranks, "mpi": launch.mpi, "flavor": launch.flavor, "bound by": launch.bound_by, "hosts": len(set(map(str, launch.hosts))),
             "control variable": launch.cvars, "MPI's own": launch.mpi_cvars} for launch in _launches(side))  # fmt: skip
    return gathered(fact for each in told for fact in flatten(each))


def _libraries(side: RecordSet) -> Facts:
    """Where each library was loaded from, by its name up to `.so`: another version is a change, too."""
    paths = [PurePath(str(path)) for launch in _launches(side) for path in launch.libraries]
    return gathered((path.name.partition(".so")[0], str(path)) for path in paths)


def _behavior(side: RecordSet) -> Facts:
    """Messages and bytes per exchange, what `auto` chose, and ranks for which the others wait."""
    facts = late_ranks(side.cases)
    for entry in entries(side.cases):
        for line in entry.lines[:1]:
            told = {"messages": line.messages, "bytes": line.bytes, "choice": _choice(line.explain)}
            facts += [(f"{what} of {entry.contender} on {entry.name}", str(value)) for what, value in told.items() if value is not None]
    return gathered(facts)


def _choice(explain: Any) -> str | None:
    """What was chosen, without the figures that follow: the first clause of the explanation."""
    return explain.partition("\n")[0].partition(";")[0].partition(" (")[0].strip() or None if isinstance(explain, str) else None


def _launches(side: RecordSet) -> list[RecordedLaunch]:
    return [launch for record in side.records for launch in record.launches]


def machines(first: RecordSet, second: RecordSet) -> list[Change]:
    """Hosts, processors and cores that are not the same on both sides, and probes that differ as states of one machine would."""
    return [*differing(_facts(first), _facts(second)), *_probes(first, second)]


def _facts(side: RecordSet) -> Facts:
    return gathered(fact for record in side.records for fact in _of_record(record))


def _of_record(record: Record) -> Iterable[tuple[str, str]]:
    cpu = record.run.environment.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    told = {"host": record.run.environment.get("host"), "processor": cpu.get("model"), "usable cores": cpu.get("usable_cores")}
    yield from ((name, str(value)) for name, value in told.items() if value is not None)
    for launch in record.launches:
        yield from (("hosts of the ranks", str(host)) for host in launch.hosts)
        if launch.binding:
            yield "cores of the ranks", "; ".join(str(cores).strip("[]") for cores in launch.binding)


def _probes(first: RecordSet, second: RecordSet) -> list[Change]:
    """The probe of each side by state, where both sides have equally many and they are far apart, or have not."""
    sides = [_typical(each) for each in (first, second)]
    if sides[0].keys() == sides[1].keys() and all(abs(math.log(sides[0][state] / sides[1][state])) < APART for state in sides[0]):
        return []
    return [Change("probe of the cores", *(_text(side) for side in sides))]


def _typical(side: RecordSet) -> dict[str | None, float]:
    return typical_probes(all_probes(line for record in side.records for line in record.cases))


def _text(typical: dict[str | None, float]) -> str | None:
    return ", ".join(f"{probe:.0f} ns" + (f" {state}" if state else "") for state, probe in typical.items()) or None


Measured = tuple[CaseResult, Entry]
Key = tuple[bytes, str]
HERE = ("dataset",)  # parameters that name a place on one machine: their last part tells what they are


@dataclass(frozen=True)
class Row:
    """One contender on one case; `ratio` above 1 means that B takes longer."""

    case: CaseResult
    contender: str
    medians: tuple[float | None, float | None]
    difference: Difference
    p_adjusted: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """B against A. `machines` is what differs in the machines themselves, which every figure depends on; `only` lists what one side alone
    has measured, `failed` what gave wrong values or broke down.
    """

    sets: tuple[RecordSet, RecordSet]
    rows: list[Row]
    rules: Rules
    changes: Changes
    machines: list[Change] = field(default_factory=list)
    only: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict is verdict for row in self.rows)


def compare(first: RecordSet, second: RecordSet, rules: Rules = DEFAULT_RULES) -> Comparison:
    """Compare B (`second`) with A (`first`) case by case; raises `RecordError` when nothing can be compared."""
    return compare_all([match(first, second)], rules)[0]


@dataclass(frozen=True)
class Matched:
    """What both sides have measured, and how it differs, before anything is said of it."""

    sets: tuple[RecordSet, RecordSet]
    sides: tuple[dict[Key, Measured], dict[Key, Measured]]
    differences: dict[Key, Difference]


def match(first: RecordSet, second: RecordSet) -> Matched:
    """The cases and contenders of both; raises `RecordError` when there are none."""
    sets = (first, second)
    check_comparable(sets)
    sides = (_entries(first), _entries(second))
    shared = [key for key in sides[0] if key in sides[1]]
    if not shared:
        both = f"{first.name} and {second.name}"
        raise RecordError(f"{both} have no case and contender in common: nothing can be compared{_why(sets)}")
    timed = [starts(first), starts(second)]
    return Matched(sets, sides, {key: difference(timed[0].get(key, []), timed[1].get(key, [])) for key in shared})


def compare_all(matched: Sequence[Matched], rules: Rules) -> list[Comparison]:
    """A comparison of each; the differences of all of them are one family of tests."""
    judged = iter(judge([found for each in matched for found in each.differences.values()], rules))
    return [_comparison(each, [next(judged) for _ in each.differences], rules) for each in matched]


def _comparison(matched: Matched, judged: Sequence[Judged], rules: Rules) -> Comparison:
    sides = matched.sides
    return Comparison(
        sets=matched.sets,
        rows=[_row(sides[0][key], sides[1][key], each) for key, each in zip(matched.differences, judged, strict=True)],
        rules=rules,
        changes=changes(*matched.sets),
        machines=machines(*matched.sets),
        only={"A": _missing(*sides), "B": _missing(*reversed(sides))},
        failed={name: _failed(side) for name, side in zip("AB", sides, strict=True)},
    )


def _why(sets: Sequence[RecordSet]) -> str:
    """How launches ended that ended badly, since they may be why cases are missing."""
    ends = [(each.name, end) for each in sets for record in each.records for end in failed(record)]
    told = [f"{name}, launch {end.launch + 1}: {end.status}" + (f", {end.message}" if end.message else "") for name, end in ends]
    return "".join(f"\n{line}" for line in told[:4])


def _row(first: Measured, second: Measured, judged: Judged) -> Row:
    (case, a), (_, b) = first, second
    return Row(case, a.contender, (a.median, b.median), *judged)


def starts(records: RecordSet) -> dict[Key, list[Launch]]:
    """Samples and probes of every launch that measured and whose values were right, by case and contender, in the order of time."""
    found: dict[Key, list[Launch]] = {}
    for number, record in enumerate(sorted(records.records, key=lambda record: record.run.created)):
        pairs = _pairs(record)
        for line in record.cases:
            if line.samples and line.verified is not False:
                found.setdefault((identity(line.params), line.contender), []).append(_launch(line, number, pairs.get(line.launch)))
    return found


def _pairs(record: Record) -> dict[int, tuple[str, int]]:
    """The pair of each launch; both runs of a duet have the same label, and number their launches alike."""
    duet = record.labels.get("duet")
    return {launch.launch: (duet, launch.pair) for launch in record.launches if duet and launch.pair is not None}


def _launch(line: Case, run: int, pair: tuple[str, int] | None) -> Launch:
    # A clock of low resolution can give 0; it has no logarithm and tells nothing of a ratio.
    samples = np.maximum(np.asarray(line.samples), 1e-12)
    return Launch(samples, line.probes, run, pair)


def _entries(records: RecordSet) -> dict[Key, Measured]:
    return {
        (identity(case.params), entry.contender): (case, entry)
        for case in in_order(records.cases)
        for entry in case.entries.values()
        if entry.ran
    }


def identity(params: dict[str, Any]) -> bytes:
    """The same for the same case on another machine."""
    shown = {name: str(value).rpartition("/")[2] if name in HERE else value for name, value in params.items()}
    return msgspec.json.encode(shown, order="deterministic")


def _missing(side: dict, other: dict) -> list[str]:
    return [f"{entry.contender} on {case.name}" for key, (case, entry) in side.items() if key not in other]


def _failed(side: dict) -> list[str]:
    return [f"{entry.contender} on {case.name}" for case, entry in side.values() if entry.failed]


LineKey = tuple[int, str, bytes]


def relative_to(sets: Sequence[RecordSet], name: str) -> list[RecordSet]:
    """The same sets as if `name` had always taken its median over all of them; `name` itself is left out.

    Raises `RecordError` when a set has no verified timing of it. Lines of cases and starts without one are left out, too.
    """
    references = [_references(each, name) for each in sets]
    for each, found in zip(sets, references, strict=True):
        if not found:
            raise RecordError(f"{each.name} has no verified timing of {name}: choose a contender that both sides measured")
    usual = _usual(references)
    return [_relative(each, found, usual, name) for each, found in zip(sets, references, strict=True)]


def _references(records: RecordSet, name: str) -> dict[tuple[int, LineKey], np.ndarray]:
    """Samples of the reference by record, start and case."""
    return {(number, _key(line)): np.maximum(line.samples, 1e-12) for number, record in enumerate(records.records)
            for line in record.cases if line.contender == name and line.samples and line.verified is not False}  # fmt: skip


def _usual(references: Sequence[dict[tuple[int, LineKey], np.ndarray]]) -> dict[tuple[str, bytes], float]:
    """The reference's median per case, over all launches of all sets."""
    found: dict[tuple[str, bytes], list[np.ndarray]] = {}
    for each in references:
        for (_, (_, case, params)), samples in each.items():
            found.setdefault((case, params), []).append(samples)
    return {case: float(np.median(np.concatenate(samples))) for case, samples in found.items()}


def _relative(records: RecordSet, references: dict, usual: dict[tuple[str, bytes], float], name: str) -> RecordSet:
    made = []
    for number, record in enumerate(records.records):
        beside = [(line, references.get((number, _key(line)))) for line in record.cases if line.contender != name]
        lines = [_scaled(line, found, usual[_key(line)[1:]]) for line, found in beside if found is not None]
        made.append(replace(record, cases=lines))
    return RecordSet(f"{records.name} relative to {name}", made)


def _scaled(line: Case, reference: np.ndarray, usual: float) -> Case:
    # Launches that ended early may have samples without a partner: then the median stands for all.
    pace = reference if len(reference) == len(line.samples) else np.full(len(line.samples), np.median(reference))
    return msgspec.structs.replace(line, samples=(np.asarray(line.samples) * (usual / pace)).tolist())


def _key(line: Case) -> LineKey:
    return line.launch, line.name, identity(line.params)


SCHEMA = "parhelion.compare/3"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The document of `parhelion compare --json`; ratios are B / A, so above 1 means slower."""
    sides = {name: {"name": side.name, "runs": [record.id for record in side.records], "launches": side.launches, "notes": side.remarks}
             for name, side in zip("AB", comparison.sets, strict=True)}  # fmt: skip
    return {
        "schema": SCHEMA,
        **sides,
        "machines": comparison.machines,
        "rules": comparison.rules,
        "cases": [_case(row) for row in comparison.rows],
        **{f"only_in_{name}": found for name, found in comparison.only.items()},
        **{f"failed_in_{name}": found for name, found in comparison.failed.items()},
        "changes": comparison.changes,
    }


def _case(row: Row) -> dict[str, Any]:
    found = row.difference
    who = {"name": row.case.name, "params": row.case.params, "contender": row.contender, "median_s": row.medians}
    figures = {"ratio": found.ratio, "ci95": found.interval, "ratio_by_state": found.states, "p": found.p, "p_adjusted": row.p_adjusted,
               "cliffs_delta": found.cliffs_delta}  # fmt: skip
    units = {"compared": found.kind, "units": found.units, "single_launch": found.single_launch}
    return who | figures | units | {"verdict": row.verdict}


Sides = tuple[list[Launch], list[Launch]]
ONE_AFTER_THE_OTHER, IN_TURN = "one after the other", "in turn, pair by pair"


@dataclass(frozen=True)
class Calibration:
    """Shares over all splits of one design; `launches` is the number on each side."""

    design: str
    splits: int
    launches: int
    cases: int
    planted: float
    false_pairs: float
    false_cases: float
    found_pairs: float
    found_cases: float


def calibrate(
    records: RecordSet, planted: float = 1.05, launches: int | None = None, rules: Rules = DEFAULT_RULES
) -> list[Calibration]:
    """Both designs on all stretches of consecutive launches; raises `RecordError` with fewer than four launches per case."""
    cases = starts_by_case(records)
    available = min(map(len, cases), default=0)
    size = launches or available // 2
    if size < 2 or 2 * size > available:
        raise RecordError(f"{records.name} has {available} launches per case, {max(4, 2 * size)} are needed: use --launches, or measure more")
    return [_calibration(design, cases, size, planted, rules) for design in (ONE_AFTER_THE_OTHER, IN_TURN)]


def starts_by_case(records: RecordSet) -> list[list[Launch]]:
    """The launches of every case and contender whose values were right, in the order of time."""
    return list(starts(records).values())


def splits(starts: list[Launch], size: int, design: str) -> list[Sides]:
    """The sides of every stretch of 2 × `size` launches, each with either side as the first."""
    stretches = [starts[first : first + 2 * size] for first in range(len(starts) - 2 * size + 1)]
    return [sides[::order] for each in stretches for sides in [_sides(each, design)] for order in (1, -1)]  # type: ignore[misc]


def _sides(stretch: list[Launch], design: str) -> Sides:
    half = len(stretch) // 2
    if design == ONE_AFTER_THE_OTHER:
        return stretch[:half], stretch[half:]
    numbered = [launch._replace(pair=("pairs", number // 2)) for number, launch in enumerate(stretch)]
    return numbered[::2], numbered[1::2]


def _calibration(design: str, cases: Sequence[list[Launch]], size: int, planted: float, rules: Rules) -> Calibration:
    by_split = list(zip(*(splits(case, size, design) for case in cases), strict=False))  # cases may lack launches
    false = np.array([judged(sides, 1.0, DIFFERENT, rules) for sides in by_split])
    found = np.array([judged(sides, planted, (Verdict.SLOWER,), rules) for sides in by_split])
    shares = (false.any(axis=1).mean(), false.mean(), found.any(axis=1).mean(), found.mean())
    return Calibration(design, len(by_split), size, len(cases), planted, *map(float, shares))


def judged(cases: Sequence[Sides], factor: float, wanted: Sequence[Verdict], rules: Rules = DEFAULT_RULES, probe: float = 1.0) -> list[bool]:
    """Whether each case, with B slowed by that factor, has one of these verdicts; all cases are one family."""
    found = judge([difference(first, slowed(second, factor, probe)) for first, second in cases], rules)
    return [each.verdict in wanted for each in found]


def slowed(side: list[Launch], factor: float, probe: float = 1.0) -> list[Launch]:
    """The same with every sample so many times as long; `probe` is what another machine does to its probe."""
    return [launch._replace(samples=factor * launch.samples, probe=probe * launch.probe) for launch in side]

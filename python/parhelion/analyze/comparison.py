"""Comparison of all cases of two sets of runs and of their environments."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import msgspec
import numpy as np

from ..record.folder import folders_with
from ..record.model import Case, INTERLEAVED, RecordError, flatten
from ..record.read import FILE_NAME, Record, failed, read_record
from .results import CaseResult, Entry, entries, in_order, remarks, results, skew
from .statistics import APART, DEFAULT_RULES, NO_INTERVAL, Difference, Launch, Rules, Verdict, all_probes, difference, judge, typical_probes


@dataclass(frozen=True)
class RecordSet:
    """Runs of one configuration; all launches count equally."""

    name: str
    records: list[Record]

    @property
    def lines(self) -> list[Case]:
        return [line for record in self.records for line in record.cases]

    @property
    def cases(self) -> list[CaseResult]:
        return results(self.lines)

    @property
    def remarks(self) -> list[str]:
        """Warnings about this side's measurements."""
        return list(dict.fromkeys(note for record in self.records for note in remarks(record, results(record.cases))))

    @property
    def launches(self) -> int:
        return sum(len(record.launches) for record in self.records)


def read_set(path: Path) -> RecordSet:
    """Read the run at `path`, or all runs in its subfolders; raises `RecordError`."""
    runs = [] if (path / FILE_NAME).exists() else folders_with(FILE_NAME, path)
    if runs:
        return RecordSet(path.name, [read_record(run) for run in runs])
    record = read_record(path)
    return RecordSet(record.labels.get("image") or record.id, [record])


Facts = dict[str, str]
# Prefixes of facts that differ between any two runs.
VOLATILE = ("load", "variables PMI", "variables MPI_LOCAL", "binding")
OF_MACHINE = {"host": "host", "cpu model": "processor", "cpu usable cores": "usable cores"}
CLEARLY = 1.25  # slow: above this multiple of the median rank's time; uneven core distances stay below
AS_BEFORE = 1.1  # nearly slow: above this multiple


@dataclass(frozen=True)
class Change:
    """A fact's value on each side; `None` if a side lacks it."""

    name: str
    first: str | None
    second: str | None


def differing(first: Facts, second: Facts) -> list[Change]:
    names = dict.fromkeys([*first, *second])
    return [Change(name, first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)]


def gathered(pairs: Iterable[tuple[str, str]]) -> Facts:
    """Group facts by name and join several values; omits volatile facts."""
    values: dict[str, set[str]] = {}
    for name, value in pairs:
        values.setdefault(name, set()).add(value)
    return {name: " | ".join(sorted(each)) for name, each in values.items() if not name.startswith(VOLATILE)}


def library_name(path: str) -> str:
    """File name up to `.so`, without directory and version."""
    return PurePath(path).name.partition(".so")[0]


def _facts(side: RecordSet) -> dict[str, Facts]:
    """Recorded facts by kind; facts of kind `machine` affect all timings."""
    launches = [launch for record in side.records for launch in record.launches]
    environment = [fact for record in side.records for fact in flatten(record.run.environment)]
    ranks = ({"ranks": launch.ranks, "mpi": launch.mpi, "build": launch.build, "bound by": launch.bound_by, "hosts": len(set(map(str, launch.hosts))),
              "control variable": launch.cvars, "MPI's own": launch.mpi_cvars} for launch in launches)
    machine = [(OF_MACHINE[name], value) for name, value in environment if name in OF_MACHINE]
    machine += [("hosts of the ranks", str(host)) for launch in launches for host in launch.hosts]
    machine += [("cores of the ranks", "; ".join(str(cores).strip("[]") for cores in launch.binding)) for launch in launches if launch.binding]
    kinds = {
        "environment": environment,
        "ranks": (fact for each in ranks for fact in flatten(each)),
        "libraries": ((library_name(str(path)), str(path)) for launch in launches for path in launch.libraries),
        "behavior": _behavior(side.cases),
        "machine": machine,
    }
    return {kind: gathered(facts) for kind, facts in kinds.items()}


def _behavior(cases: Sequence[CaseResult]) -> Iterable[tuple[str, str]]:
    """Yield late ranks, messages and bytes per exchange, and the choice of `auto`."""
    late: dict[str, set[int]] = {}
    for entry in entries(cases):
        if (told := skew(entry)) and told.matters:
            ranks = max(len(line.samples_by_rank) for line in entry.lines)
            late.setdefault(f"ranks that come late to {entry.variant} on {ranks} ranks", set()).add(told.rank)
    yield from ((name, ", ".join(map(str, sorted(ranks)))) for name, ranks in late.items())
    for entry in entries(cases):
        line = entry.lines[0]
        # The explanation's first clause, without measurements.
        choice = line.explain.partition("\n")[0].partition(";")[0].partition(" (")[0].strip() if isinstance(line.explain, str) else None
        for what, value in {"messages": line.messages, "bytes": line.bytes, "choice": choice or None}.items():
            if value is not None:
                yield f"{what} of {entry.variant} on {entry.name}", str(value)


def changes(first: RecordSet, second: RecordSet) -> dict[str, list[Change]]:
    """Return the facts that differ, by kind: environment, ranks, libraries, behavior, and `machine`, which affects all timings."""
    sides = _facts(first), _facts(second)
    found = {kind: differing(facts, sides[1][kind]) for kind, facts in sides[0].items()}
    found["behavior"] = _slow_ranks(first, second) + found["behavior"]
    found["machine"] += _probes(first, second)
    return found


def _slow_ranks(first: RecordSet, second: RecordSet) -> list[Change]:
    """Return the slow ranks of both sides if one is slow on one side but not nearly slow on the other."""
    sides = [_above_the_median(side.lines) for side in (first, second)]
    found = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        ratios = [side.get(name, np.empty(0)) for side in sides]
        slow, nearly = ([set(np.flatnonzero(each > above).tolist()) for each in ratios] for above in (CLEARLY, AS_BEFORE))
        if not (slow[0] <= nearly[1] and slow[1] <= nearly[0]):
            found.append(Change(name, *(", ".join(map(str, sorted(each))) or None for each in slow)))
    return found


def _above_the_median(lines: Iterable[Case]) -> dict[str, np.ndarray]:
    """By variant and rank count: each rank's time / the median rank's time, median over samples."""
    times: dict[str, list[list[list[float]]]] = {}
    for line in lines:
        if len(line.samples_by_rank) > 1 and line.samples:
            times.setdefault(f"slow ranks of {line.variant} on {len(line.samples_by_rank)} ranks", []).append(line.samples_by_rank)
    return {name: _ratios(np.concatenate(each, axis=1)) for name, each in times.items()}


def _ratios(times: np.ndarray) -> np.ndarray:
    # The lower median: of two ranks, the faster one is the reference.
    usual = np.sort(times, axis=0)[(len(times) - 1) // 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmedian(np.where(usual > 0, times / usual, np.nan), axis=1)


def _probes(*sets: RecordSet) -> list[Change]:
    """Return each side's typical probe by state if they differ by a factor of exp(`APART`) or more."""
    sides = [typical_probes(all_probes(side.lines)) for side in sets]
    if sides[0].keys() == sides[1].keys() and all(abs(math.log(sides[0][state] / sides[1][state])) < APART for state in sides[0]):
        return []
    told = (", ".join(f"{probe:.0f} ns" + (f" {state}" if state else "") for state, probe in side.items()) or None for side in sides)
    return [Change("probe of the cores", *told)]


@dataclass(frozen=True)
class Row:
    case: CaseResult
    variant: str
    medians: tuple[float | None, float | None]
    difference: Difference
    sides: tuple[list[Launch], list[Launch]] = field(compare=False, repr=False)

    @property
    def verdict(self) -> Verdict:
        return self.difference.verdict


@dataclass(frozen=True)
class Comparison:
    """B against A; `only` lists timings of one side, `failed` those with wrong values or errors."""

    sets: tuple[RecordSet, RecordSet]
    rows: list[Row]
    rules: Rules
    changes: dict[str, list[Change]]
    machines: list[Change] = field(default_factory=list)
    only: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict is verdict for row in self.rows)


Measured = tuple[CaseResult, Entry]
Key = tuple[bytes, str]


def compare(first: RecordSet, second: RecordSet, rules: Rules = DEFAULT_RULES) -> Comparison:
    """Compare B (`second`) with A (`first`) case by case; raises `RecordError` without a common case."""
    return compare_all([match(first, second)], rules)[0]


def compare_all(found: Sequence[Comparison], rules: Rules) -> list[Comparison]:
    """Add verdicts; all differences form one family of tests."""
    verdicts = iter(judge([row.difference for each in found for row in each.rows], rules))
    return [replace(each, rules=rules, rows=[replace(row, difference=next(verdicts)) for row in each.rows]) for each in found]


def match(first: RecordSet, second: RecordSet) -> Comparison:
    """Pair the common cases and variants, without verdicts; raises `RecordError` if there are none."""
    sets = (first, second)
    benchmarks = {record.run.benchmark for each in sets for record in each.records}
    if len(benchmarks) > 1:
        raise RecordError(f"cannot compare runs of {' and '.join(sorted(benchmarks))}: give runs of one benchmark")
    a, b = sides = _entries(first), _entries(second)
    shared = [key for key in a if key in b]
    if not shared:
        ends = [(each.name, end) for each in sets for record in each.records for end in failed(record)]
        why = [f"\n{name}, launch {end.launch + 1}: {end.status}" + (f", {end.message}" if end.message else "") for name, end in ends[:4]]
        both = f"{first.name} and {second.name}"
        raise RecordError(f"{both} have no case and variant in common: nothing can be compared{''.join(why)}")
    timed = [launches(first), launches(second)]
    compared = [(timed[0].get(key, []), timed[1].get(key, [])) for key in shared]
    differences = [difference(*each) for each in compared]
    if any("imported" in record.run.environment for each in sets for record in each.records):
        # Other tools print two decimals: equal values only mean that the variation is smaller.
        differences = [replace(each, shift=None, interval=NO_INTERVAL) if each.shift and each.shift.error == 0 else each for each in differences]
    rows = [Row(a[key][0], a[key][1].variant, (a[key][1].median, b[key][1].median), found, each)
            for key, found, each in zip(shared, differences, compared, strict=True)]
    found = changes(first, second)
    machines = found.pop("machine")
    names = [{key: f"{entry.variant} on {case.name}" for key, (case, entry) in side.items()} for side in sides]
    only = [[name for key, name in mine.items() if key not in other] for mine, other in (names, names[::-1])]
    broken = [[name for key, name in mine.items() if side[key][1].failed] for mine, side in zip(names, sides)]
    return Comparison(sets, rows, DEFAULT_RULES, found, machines, dict(zip("AB", only)), dict(zip("AB", broken)))


def _entries(records: RecordSet) -> dict[Key, Measured]:
    every = ((case, entry) for case in in_order(records.cases) for entry in case.entries.values())
    return {(identity(case.params), entry.variant): (case, entry) for case, entry in every if entry.ran}


def identity(params: dict[str, Any]) -> bytes:
    """Key of a case, independent of the data set's directory."""
    shown = {name: str(value).rpartition("/")[2] if name == "dataset" else value for name, value in params.items()}
    return msgspec.json.encode(shown, order="deterministic")


def launches(records: RecordSet) -> dict[Key, list[Launch]]:
    """Return launches with samples and without wrong values, by case and variant, in order of time."""
    found: dict[Key, list[Launch]] = {}
    for number, record in enumerate(sorted(records.records, key=lambda record: record.run.created)):
        # Both runs of an interleaved A/B have the same label and pair numbers.
        common = record.labels.get(INTERLEAVED)
        pairs = {launch.launch: (common, launch.pair) for launch in record.launches if common and launch.pair is not None}
        for line in filter(_counts, record.cases):
            made = Launch(_samples(line), line.probes, number, pairs.get(line.launch))
            found.setdefault((identity(line.params), line.variant), []).append(made)
    return found


def _counts(line: Case) -> bool:
    return bool(line.samples) and line.verified is not False


def _samples(line: Case) -> np.ndarray:
    """Clamp samples to 1e-12 s: a low-resolution clock returns 0, which has no logarithm."""
    return np.maximum(line.samples, 1e-12)


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Return the document of `parhelion compare --json`; a ratio B / A above 1 means B is slower."""
    sides = {name: {"name": side.name, "runs": [record.id for record in side.records], "launches": side.launches, "notes": side.remarks}
             for name, side in zip("AB", found.sets)}
    return {
        "schema": "parhelion.compare/3",
        **sides,
        "machines": found.machines,
        "rules": found.rules,
        "cases": [_case(row) for row in found.rows],
        **{f"only_in_{name}": each for name, each in found.only.items()},
        **{f"failed_in_{name}": each for name, each in found.failed.items()},
        "changes": found.changes,
    }


def _case(row: Row) -> dict[str, Any]:
    found = row.difference
    return {
        "name": row.case.name, "params": row.case.params, "variant": row.variant, "median_s": row.medians,
        "ratio": found.ratio, "ci95": found.interval, "ratio_by_state": found.states, "p": found.p, "p_adjusted": found.p_adjusted,
        "compared": found.kind, "units": found.units, "single_launch": found.single_launch,
        "verdict": found.verdict, "why": found.why,
    }

"""Comparing all cases of two sets; or their times relative to a contender that was measured beside them: whatever the machine did to both
is taken out, for contenders of a case take turns, so that sample i of one stands beside sample i of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from .results import CaseResult, Entry
from .document import failed
from .params import in_order
from ..record.model import RecordError
from ..record.model import Case
from ..record.read import Record
from .verdict import DEFAULT_RULES, Difference, Judged, Rules, Verdict, difference, judge
from .states import Launch
from .changes import Change, Changes, changes, machines
from .sets import RecordSet, check_comparable

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
    probe = np.array([np.nan if value is None else value for value in line.probe_ns or []], dtype=float)
    return Launch(samples, probe if len(probe) == len(samples) else np.full(len(samples), np.nan), run, pair)


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

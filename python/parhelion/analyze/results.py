"""Case lines of several launches, joined: one entry per case and contender."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from ..record.model import Case
from .shift import Interval
from .ratios import Ratio, geometric_mean, ratio
from .summary import Summary, summarize

OWN, BASELINE, PEER = "own", "baseline", "peer"


@dataclass
class Entry:
    """One contender on one case, over all launches."""

    name: str
    params: dict[str, Any]
    contender: str
    role: str
    lines: list[Case] = field(default_factory=list)

    @property
    def launches(self) -> list[np.ndarray]:
        """Seconds per exchange, one array per launch that gave samples."""
        return [np.asarray(line.samples) for line in self.lines if line.samples]

    @property
    def by_start(self) -> dict[tuple[int, int], np.ndarray]:
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
        """A value was wrong, or the contender broke down, in at least one launch."""
        return any(line.verified is False and not line.skipped for line in self.lines)

    @property
    def ran(self) -> bool:
        """It gave samples, or it failed; one that was skipped did not run."""
        return self.failed or any(line.samples for line in self.lines)

    @property
    def median(self) -> float | None:
        """Median of a verified contender; a timing of wrong values does not count."""
        return self.summary.median if self.summary and not self.failed else None

    @property
    def error(self) -> str | None:
        told = next((line.error for line in self.lines if line.error), None)
        return told or ("a value was wrong" if self.failed else None)

    @property
    def skipped(self) -> str | None:
        return next((line.skipped for line in self.lines if line.skipped), None)

    @property
    def setup_s(self) -> dict[str, float]:
        """Median over launches of each part of the set-up."""
        parts: dict[str, list[float]] = {}
        for line in self.lines:
            for part, seconds in (line.setup_s or {}).items():
                if seconds is not None:
                    parts.setdefault(part, []).append(seconds)
        return {part: float(np.median(values)) for part, values in parts.items()}


@dataclass
class CaseResult:
    """All contenders on one case."""

    name: str
    params: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    _ratios: dict[str, Ratio] = field(default_factory=dict, repr=False, compare=False)  # tables ask again and again

    @cached_property
    def best_baseline(self) -> Entry | None:
        """The fastest hand-written baseline whose values were right."""
        return self.best(BASELINE)

    @cached_property
    def fastest(self) -> Entry | None:
        """The fastest verified contender; a floor only tells what copying alone would take."""
        return _fastest(entry for entry in self.entries.values() if entry.role != "floor")

    def relative(self, contender: str) -> float | None:
        """Time of the contender over that of the best baseline: below 1 is faster than hand-written MPI."""
        speed = self.speed(contender)
        return 1 / speed if speed else None

    def speed(self, contender: str) -> float | None:
        """How many times as fast as the best baseline the contender is."""
        return self.ratio(contender).value

    def speed_interval(self, contender: str) -> Interval:
        """The 95 % interval of `speed`: that the best baseline was chosen among several is counted in."""
        return self.ratio(contender).interval

    def ratio(self, contender: str) -> Ratio:
        """`speed` with its interval. Where samples are too few for one, it is the ratio of the medians."""
        if contender not in self._ratios:
            self._ratios[contender] = self._ratio(self.entries.get(contender))
        return self._ratios[contender]

    def _ratio(self, entry: Entry | None) -> Ratio:
        best = self.best_baseline
        if not (entry and entry.median and best and best.median):
            return Ratio()
        if entry is best:
            return Ratio(1.0)
        found = _ratio_of([(self, [entry])])
        return found if found.value else Ratio(best.median / entry.median)

    def of_role(self, role: str) -> list[Entry]:
        """All contenders of a role whose values were right."""
        return [entry for entry in self.entries.values() if entry.role == role and entry.median]

    def best(self, role: str) -> Entry | None:
        """The fastest verified contender of a role."""
        return _fastest(self.of_role(role))


Speeds = Sequence[tuple[CaseResult, Sequence[Entry]]]  # cases, each with those of its contenders that are looked at


def _ratio_of(cases: Speeds) -> Ratio:
    """The geometric mean over cases of how many times as fast as the best baseline the best of these contenders is."""
    return ratio([(_starts(case.of_role(BASELINE)), _starts(entries)) for case, entries in cases])


def mean_speed(cases: Speeds) -> tuple[float | None, Interval]:
    """That geometric mean with its 95 % interval; cases without a baseline or without such a contender do not count."""
    counted = [(case, [entry for entry in entries if case.speed(entry.contender)]) for case, entries in cases]
    counted = [(case, entries) for case, entries in counted if entries]
    found = _ratio_of(counted)
    if found.value:
        return found.value, found.interval
    return geometric_mean(max(case.speed(entry.contender) or 0.0 for entry in entries) for case, entries in counted), found.interval


def of_contender(cases: Iterable[CaseResult], name: str) -> Speeds:
    """The cases with that contender alone."""
    return [(case, [case.entries[name]]) for case in cases if name in case.entries]


def _starts(entries: Iterable[Entry]) -> list[dict[tuple[int, int], np.ndarray]]:
    return [entry.by_start for entry in entries]


def _fastest(entries: Iterable[Entry]) -> Entry | None:
    return min((entry for entry in entries if entry.median), key=lambda entry: entry.median or 0.0, default=None)


def results(cases: Iterable[Case]) -> list[CaseResult]:
    """Cases in the order in which they were first measured, contenders likewise."""
    joined: dict[tuple[str, bytes], CaseResult] = {}
    for line in cases:
        key = (line.name, msgspec.json.encode(line.params, order="deterministic"))
        case = joined.setdefault(key, CaseResult(line.name, line.params))
        entry = case.entries.setdefault(line.contender, Entry(line.name, line.params, line.contender, line.role))
        entry.lines.append(line)
    return list(joined.values())


def ours(case: CaseResult) -> Entry | None:
    """What users get: `auto` where it ran, else the fastest of the library."""
    entry = case.entries.get("auto")
    return entry if entry and entry.median else case.best(OWN)


def contenders(cases: Iterable[CaseResult]) -> list[str]:
    """Every contender that occurs: the project's own first, then baselines, peers and floors."""
    order = {OWN: 0, BASELINE: 1, PEER: 2, "floor": 3}
    roles = {entry.contender: order.get(entry.role, 4) for entry in entries(cases)}
    return sorted(roles, key=lambda name: roles[name])


def entries(cases: Iterable[CaseResult]) -> list[Entry]:
    """Every contender of every case."""
    return [entry for case in cases for entry in case.entries.values()]


def reasons(cases: Iterable[CaseResult]) -> dict[tuple[str, str], list[str]]:
    """Why contenders failed or were skipped, each reason once, with those that it met."""
    met: dict[tuple[str, str], list[str]] = {}
    for entry in entries(cases):
        for kind, why in (("failed", entry.error), ("skipped", entry.skipped)):
            if why and entry.contender not in met.setdefault((kind, why), []):
                met[kind, why].append(entry.contender)
    return met

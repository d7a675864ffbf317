"""What differs around the figures: in the machines first, then environment, libraries, choices, ranks that stand out."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from .results import CaseResult
from .remarks import skew
from ..record.facts import flatten
from ..record.model import Case, Launch
from ..record.read import Record
from .states import APART, typical_probes
from .sets import RecordSet

CLEARLY = 1.25  # times the median of the ranks; cores that lie unevenly make less


def slow_ranks(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Per contender the ranks whose time is clearly above that of the median rank, in the median over all its samples."""
    lines: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        for entry in case.entries.values():
            for line in entry.lines:
                if len(line.samples_by_rank) > 1 and line.samples:
                    lines.setdefault((entry.contender, len(line.samples_by_rank)), []).append(line)
    found = {key: _slow(each) for key, each in lines.items()}
    return [(f"slow ranks of {contender} on {ranks} ranks", slow) for (contender, ranks), slow in found.items() if slow]


def late_ranks(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Per contender the ranks that come so late, in most samples of a case, that much of the time is the others' wait for them."""
    found: dict[tuple[str, int], set[int]] = {}
    for case in cases:
        for entry in case.entries.values():
            if (told := skew(entry)) and told.matters:
                ranks = max(len(line.samples_by_rank) for line in entry.lines)
                found.setdefault((entry.contender, ranks), set()).add(told.rank)
    return [(f"ranks that come late to {contender} on {ranks} ranks", ", ".join(map(str, sorted(late))))
            for (contender, ranks), late in found.items()]  # fmt: skip


def _slow(lines: Sequence[Case]) -> str:
    """Such as `1, 3`; empty when no rank stands out."""
    times = np.concatenate([np.array(line.samples_by_rank) for line in lines], axis=1)
    # The lower middle, so that of two ranks the slower one is compared with the other.
    usual = np.sort(times, axis=0)[(len(times) - 1) // 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nanmedian(np.where(usual > 0, times / usual, np.nan), axis=1)
    return ", ".join(str(rank) for rank, ratio in enumerate(ratios) if ratio > CLEARLY)


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
    return Changes(
        environment=differing(_environment(first), _environment(second)),
        ranks=differing(_ranks(first), _ranks(second)),
        libraries=differing(_libraries(first), _libraries(second)),
        behavior=differing(_behavior(first), _behavior(second)),
    )


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
    return gathered(fact for launch in _launches(side) for fact in flatten(_told(launch)))


def _told(launch: Launch) -> dict[str, Any]:
    return {"ranks": launch.ranks, "mpi": launch.mpi, "flavor": launch.flavor, "bound by": launch.bound_by,
            "hosts": len(set(map(str, launch.hosts))), "control variable": launch.cvars,
            "MPI's own": launch.mpi_cvars}  # fmt: skip


def _libraries(side: RecordSet) -> Facts:
    """Where each library was loaded from, by its name up to `.so`: another version is a change, too."""
    paths = [PurePath(str(path)) for launch in _launches(side) for path in launch.libraries]
    return gathered((path.name.partition(".so")[0], str(path)) for path in paths)


def _behavior(side: RecordSet) -> Facts:
    """Messages and bytes per exchange, what `auto` chose, ranks that take longer than the others, and those for which the others wait."""
    facts = slow_ranks(side.cases) + late_ranks(side.cases)
    for case in side.cases:
        for entry in case.entries.values():
            who = f"{entry.contender} on {case.name}"
            for line in entry.lines[:1]:
                told = {"messages": line.messages, "bytes": line.bytes, "choice": _choice(line.explain)}
                facts += [(f"{what} of {who}", str(value)) for what, value in told.items() if value is not None]
    return gathered(facts)


def _choice(explain: Any) -> str | None:
    """What was chosen, without the figures that follow: the first clause of the explanation."""
    return explain.partition("\n")[0].partition(";")[0].partition(" (")[0].strip() or None if isinstance(explain, str) else None


def _launches(side: RecordSet) -> list[Launch]:
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
    probes = [value for record in side.records for line in record.cases for value in line.probe_ns or [] if value]
    return typical_probes(np.array(probes, dtype=float))


def _text(typical: dict[str | None, float]) -> str | None:
    return ", ".join(f"{probe:.0f} ns" + (f" {state}" if state else "") for state, probe in typical.items()) or None

"""What differs in the machines themselves: every figure depends on it, so it is said before them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..records.read import Record
from ..statistics.states import APART, typical_probes
from .changes import Change, Facts, differing, gathered
from .sets import RecordSet


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

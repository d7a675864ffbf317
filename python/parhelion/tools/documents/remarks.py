"""What a reader should know before believing the figures of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..records.model import Launch
from ..records.read import Record
from ..statistics import Summary
from ..statistics.states import state_boundary
from .results import CaseResult, entries

WIDE = 0.25  # an interval this wide, in shares of its median, says little
MANY = 0.2
MUCH = 1.5  # load per core that our own last run does not explain


def remarks(record: Record, cases: Sequence[CaseResult]) -> list[str]:
    """Notes of the reader, shared cores, a busy machine, two states of the cores."""
    found = [_shared_cores(record), _loaded(record), _busy(record, cases), _states(record)]
    return [*record.notes, *filter(None, found)]


def _shared_cores(record: Record) -> str | None:
    cores = _cores(record)
    if cores is None:
        return None
    ranks = sorted({fullest for launch in record.launches if (fullest := _on_fullest_host(launch)) > cores})
    if not ranks:
        return None
    return f"{', '.join(map(str, ranks))} ranks shared {cores} cores: those figures tell of the scheduler as well"


def _on_fullest_host(launch: Launch) -> int:
    if len(launch.hosts) != launch.ranks:
        return launch.ranks
    return max(Counter(map(str, launch.hosts)).values(), default=0)


def _cores(record: Record) -> int | None:
    told = record.run.environment.get("cpu")
    cores = told.get("usable_cores") if isinstance(told, dict) else None
    return cores if isinstance(cores, int) else None


def _load(record: Record) -> float | None:
    try:
        return float(str(record.run.environment.get("load")).split()[0])
    except (ValueError, IndexError):
        return None


def _loaded(record: Record) -> str | None:
    load, cores = _load(record), _cores(record)
    if load is None or cores is None or load <= MUCH * cores:
        return None
    return f"the load was {load:g} on {cores} cores before the ranks were started: other work may have run beside them"


def _busy(record: Record, cases: Sequence[CaseResult]) -> str | None:
    timed = [entry.summary for entry in entries(cases) if entry.summary]
    unknown = sum(summary.interval.width is None for summary in timed)
    wide = sum(not _narrow(summary) for summary in timed) - unknown
    if wide + unknown <= MANY * len(timed):
        return None
    seen = [f"wider than {WIDE:.0%} of the median in {wide}"] if wide else []
    seen += [f"unknown, for samples are too few, in {unknown}"] if unknown else []
    return (
        f"the interval is {' and '.join(seen)} of {len(timed)} timings: the machine was busy or samples are few; repeat when it "
        "is quiet, or with more --repetitions or --launches"
    )


def _narrow(summary: Summary) -> bool:
    """Whether the interval is known to be narrow; one that nobody knows is not."""
    width = summary.interval.width
    return width is not None and width <= WIDE * summary.median


def _states(record: Record) -> str | None:
    values = [value for line in record.cases for value in line.probe_ns or [] if value]
    boundary = state_boundary(np.array(values, dtype=float))
    if boundary is None:
        return None
    near, far = ([value for value in values if (value > boundary) is side] for side in (False, True))
    return (
        f"the probe met the cores in two states, {np.median(near):.0f} ns apart in {len(near) / len(values):.0%} of the samples "
        f"and {np.median(far):.0f} ns in the others: medians mix them, ratios within a run do not"
    )

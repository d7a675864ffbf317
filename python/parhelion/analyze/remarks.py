"""What a reader should know before believing the figures of a run; ranks that are apart are told from an exchange that is slow, for on a
rank that comes late all others wait in the exchange.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..record.model import Launch
from ..record.read import Record
from .summary import Summary
from .states import state_boundary
from .words import microseconds
from .params import case_label
from .results import CaseResult, Entry, entries

MUCH_APART = 0.25  # of the time of an exchange
MOSTLY = 0.75  # of the samples
LEAST_SAMPLES = 5
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


def skewed(cases: Sequence[CaseResult]) -> str | None:
    """The note about ranks for which the others wait, those first for which they wait longest."""
    found = [(told, case, entry) for case in cases for entry in case.entries.values()
             if entry.role != "floor" and (told := skew(entry)) and told.matters
             and sum(len(line.last_rank) for line in entry.lines) >= LEAST_SAMPLES]  # fmt: skip
    if not found:
        return None
    found.sort(key=lambda each: -each[0].apart)
    texts = [_text(told, f"{entry.contender} ({case_label(case, cases)})" if len(cases) > 1 else entry.contender) for told, case, entry in found[:MOST_TOLD]]
    more = f"; so in {len(found) - MOST_TOLD} more timings" if len(found) > MOST_TOLD else ""
    return "; ".join(texts) + more + ": work that is not shared evenly, or a disturbed rank, and not the exchange"


def _text(told: Skew, who: str) -> str:
    return (f"ranks arrive {microseconds(told.apart)} µs apart in {who}: the exchange waits for rank {told.rank}, "
            f"and takes {microseconds(told.together)} µs with all ranks in it")  # fmt: skip


WIDE = 0.25  # an interval this wide, in shares of its median, says little
MANY = 0.2
MUCH = 1.5  # load per core that our own last run does not explain


def remarks(record: Record, cases: Sequence[CaseResult]) -> list[str]:
    """Notes of the reader, shared cores, a busy machine, two states of the cores, ranks that the others wait for."""
    found = [_shared_cores(record), _loaded(record), _busy(record, cases), _states(record), skewed(cases)]
    return [*record.notes, *filter(None, found)]


def _shared_cores(record: Record) -> str | None:
    crowded = {(ranks, cores) for launch in record.launches for ranks, cores in _by_host(record, launch) if cores is not None and ranks > cores}
    if not crowded:
        return None
    told = ", ".join(f"{ranks} ranks shared {cores} {'core' if cores == 1 else 'cores'}" for ranks, cores in sorted(crowded))
    return f"{told}: those figures tell of the scheduler as well"


def _by_host(record: Record, launch: Launch) -> list[tuple[int, int | None]]:
    """Ranks and cores of every host; where hosts are not told, all ranks count as those of one."""
    ranks = Counter(map(str, launch.hosts)) if len(launch.hosts) == launch.ranks else Counter({"": launch.ranks})
    return [(count, (launch.cores or {}).get(host) or _cores(record)) for host, count in ranks.items()]


def _cores(record: Record) -> int | None:
    """What the process that started the ranks could use; ranks that a launcher has bound tell more by themselves."""
    most = [max(launch.cores.values()) for launch in record.launches if launch.cores]
    told = record.run.environment.get("cpu")
    cores = told.get("usable_cores") if isinstance(told, dict) else None
    return max([*most, cores] if isinstance(cores, int) else most, default=None)


def _load(record: Record) -> float | None:
    try:
        return float(str(record.run.environment.get("load")).split()[0])
    except (ValueError, IndexError):
        return None


def _loaded(record: Record) -> str | None:
    load, cores = _load(record), _cores(record)
    if load is None or cores is None or load <= MUCH * cores:
        return None
    return f"the load was {load:g} on {cores} {'core' if cores == 1 else 'cores'} before the ranks were started: other work may have run beside them"


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

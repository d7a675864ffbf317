"""Where a sweep stops following one line: knees, and sizes at which more bytes take less time; and the limits that the MPI itself tells
beside them.

Within one algorithm a collective takes about a + b·size (Hockney, Parallel Computing 1994). A sweep is cut into as few such
stretches as explain it: one more is worth its place only when it explains more than noise would (a penalty on the number of
stretches, as in Killick, Fearnhead & Eckley, JASA 2012). Each cut is a knee.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..record.read import Record
from .curves import Curve, Point

KNEE, NOT_MONOTONE = "knee", "not monotone"
LEAST_SIGMA = 0.05  # no machine follows a line to better than this
UNKNOWN_SIGMA = 4 * LEAST_SIGMA  # of a point with too few samples for an interval: only large changes stand out
LEAST_FALL = 0.95
FAR = 4.0  # a single point further off than this many sigma weighs no more
PENALTY = 14.0  # chi-square that three more parameters must explain (0.3 % of noise does), for cutting
SHORTEST, SHORTEST_BENT = 2, 3
LEAST_SIZES = 4  # fewer show no line to break


@dataclass(frozen=True)
class Change:
    """Between two neighboring sizes of a sweep.

    `growth` is the time above over the time below. `against` is the time above over what the stretch below lets expect there:
    more than 1, and what comes is slower than what went on. `ns_per_byte` is the slope below and above. `launches` tells in how
    many of how many launches it was seen.
    """

    kind: str
    below: int
    above: int
    growth: float
    against: float | None = None
    ns_per_byte: tuple[float, float] | None = None
    launches: tuple[int, int] = (1, 1)

    def covers(self, value: float) -> bool:
        """Whether a limit of this many bytes lies between the two sizes, or on one of them."""
        return self.below <= value <= self.above


def changes(curve: Curve) -> list[Change]:
    """All changes of a curve that most launches show, in ascending order of size."""
    points = curve.points
    if len(points) < LEAST_SIZES:
        return []
    sizes, seconds = np.array([point.size for point in points], dtype=float), np.array([point.median for point in points])
    sigma = np.array([_sigma(point) for point in points])
    stretches = cuts(sizes, seconds, sigma)
    found = [_knee(points, sizes, seconds, *stretch) for stretch in zip([0, *stretches], stretches, [*stretches[1:], len(sizes)],
                                                                        strict=False)]  # fmt: skip
    found += [_fall(below, above) for below, above in pairwise(points) if _falls(below, above)]
    confirmed = [change for change in found if 2 * change.launches[0] > change.launches[1]]
    return sorted(confirmed, key=lambda change: (change.below, change.kind))


def cuts(sizes: np.ndarray, seconds: np.ndarray, sigma: np.ndarray) -> list[int]:
    """The first point of every stretch but the first."""
    count = len(sizes)
    best = [0.0] + [np.inf] * count
    previous = [0] * (count + 1)
    for end in range(SHORTEST, count + 1):
        for start in range(0, end - SHORTEST + 1):
            cost = best[start] + _misfit(sizes[start:end], seconds[start:end], sigma[start:end]) + (PENALTY if start else 0.0)
            if cost < best[end]:
                best[end], previous[end] = cost, start
    starts, end = [], count
    while end > 0 and np.isfinite(best[end]):
        end = previous[end]
        starts.append(end)
    starts.reverse()
    return starts[1:]


def line(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """a and b of a + b·size for the least relative errors; no byte costs less than nothing.

    Beyond a knee a may be negative: there the line of dearer bytes, carried on to size 0, passes below it.
    """
    design = np.column_stack([1 / seconds, sizes / seconds])
    (a, b), *_ = np.linalg.lstsq(design, np.ones(len(sizes)), rcond=None)
    if b >= 0:
        return float(a), float(b)
    return float(design[:, 0].sum() / (design[:, 0] ** 2).sum()), 0.0


def _misfit(sizes: np.ndarray, seconds: np.ndarray, sigma: np.ndarray) -> float:
    a, b = line(sizes, seconds)
    if a < 0 and len(sizes) < SHORTEST_BENT:
        return np.inf  # two points on either side of a jump are no stretch
    return float(np.minimum(((a + b * sizes) / seconds - 1) ** 2 / sigma**2, FAR**2).sum())


def _sigma(point: Point) -> float:
    width = point.interval.width
    return UNKNOWN_SIGMA if width is None else max(LEAST_SIGMA, width / point.median / (2 * 1.96))


def _knee(points: list[Point], sizes: np.ndarray, seconds: np.ndarray, first: int, cut: int, end: int) -> Change:
    a, b = line(sizes[first:cut], seconds[first:cut])
    against = float(seconds[cut] / (a + b * sizes[cut]))
    slopes = (b * 1e9, line(sizes[cut:end], seconds[cut:end])[1] * 1e9)
    growth = float(seconds[cut] / seconds[cut - 1])
    starts = _starts(points[first : cut + 1], against)
    return Change(KNEE, points[cut - 1].size, points[cut].size, growth, against, slopes, starts)


def _starts(points: list[Point], against: float) -> tuple[int, int]:
    """In how many launches the last point lies on the same side of the line through the others."""
    launches = set.intersection(*(set(point.by_launch) for point in points))
    same = 0
    for launch in launches:
        seconds = np.array([np.median(point.by_launch[launch]) for point in points])
        sizes = np.array([point.size for point in points], dtype=float)
        a, b = line(sizes[:-1], seconds[:-1])
        same += bool((seconds[-1] / (a + b * sizes[-1]) - 1) * (against - 1) > 0)
    return same, len(launches)


def _falls(below: Point, above: Point) -> bool:
    """More bytes take clearly less time: the intervals are known and do not touch."""
    high, low = above.interval.high, below.interval.low
    return above.median < LEAST_FALL * below.median and high is not None and low is not None and high < low


def _fall(below: Point, above: Point) -> Change:
    both = set(below.by_launch) & set(above.by_launch)
    seen = sum(bool(np.median(above.by_launch[each]) < np.median(below.by_launch[each])) for each in both)
    return Change(NOT_MONOTONE, below.size, above.size, above.median / below.median, launches=(seen, len(both)))


LIMIT = re.compile(r"SIZE|LIMIT|_MSG|THRESHOLD|MAX_SZ", re.IGNORECASE)
OTHER_CALLS = re.compile(r"NEIGHBOR|ALLTOALLW|SEGMENT|SEGSIZE|GPU|CTXID|BATCH|CH3|NEMESIS|IPC|^btl_self|^btl_vader", re.IGNORECASE)  # btl_vader is btl_sm's old name
OF_CALL = {  # of variables that belong to one call, those that can tell about a contender
    "mpi_alltoall": re.compile(r"[^I]ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoall_init": re.compile(r"ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_ialltoall": re.compile(r"IALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoallv": re.compile(r"[^I]ALLTOALLV", re.IGNORECASE),
}
COLLECTIVE = re.compile(r"ALLTOALL", re.IGNORECASE)


@dataclass(frozen=True)
class Threshold:
    """A control variable that holds a number of bytes, and the change of the curve that it may explain."""

    name: str
    value: int
    change: Change | None

    @property
    def text(self) -> str:
        """The limit with its name."""
        return f"{self.name} = {self.value}"

    @property
    def of_collective(self) -> bool:
        """Made for this very call, not for messages in general."""
        return bool(COLLECTIVE.search(self.name))


def thresholds(record: Record, curve: Curve, seen: Sequence[Change]) -> list[Threshold]:
    """The limits within the sweep that can concern a contender; several may explain the same change."""
    if len(curve.points) < LEAST_SIZES:
        return []
    told = limits(record, curve)
    inside = {name: value for name, value in told.items() if curve.sizes[0] <= value <= curve.sizes[-1]}
    ascending = sorted(inside.items(), key=lambda each: each[1])
    return [Threshold(name, value, next((change for change in seen if change.covers(value)), None)) for name, value in ascending]


def limits(record: Record, curve: Curve) -> dict[str, int]:
    """Limits in bytes that the MPI told in those launches that the curve comes from."""
    found: dict[str, int] = {}
    for launch in record.launches:
        if launch.launch in curve.launches:
            found.update({name: value for name, value in (launch.mpi_cvars or {}).items() if _is_limit(name, value, curve)})
    return found


def _is_limit(name: str, value: object, curve: Curve) -> bool:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return False
    if not LIMIT.search(name) or OTHER_CALLS.search(name):
        return False
    if not COLLECTIVE.search(name):
        return curve.sends_messages
    call = OF_CALL.get(curve.contender)
    return bool(call and call.search(name))

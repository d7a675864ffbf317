"""Times over sizes, where a sweep stops following one line, and the limits that the MPI itself tells beside them; MPIs × networks.

Within one algorithm a collective takes about a + b·size (Hockney, Parallel Computing 1994). A sweep is cut into as few such
stretches as explain it: one more is worth its place only when it explains more than noise would (a penalty on the number of
stretches, as in Killick, Fearnhead & Eckley, JASA 2012). Each cut is a knee.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..record.model import Case, Launch
from ..record.read import Record
from .results import CaseResult, Entry, contenders, entries, in_order, some, text, varying
from .statistics import Interval, Summary, all_probes, mean_std, state_boundary, summarize
from .words import percent, size_text

SIZE = "size"
LEAST_SAMPLES = 5


@dataclass(frozen=True)
class Point:
    """One size: the samples that count, launch by launch, and what they say."""

    size: int
    by_launch: dict[int, np.ndarray]
    summary: Summary

    @property
    def median(self) -> float:
        return self.summary.median

    @property
    def interval(self) -> Interval:
        """That of the median; without ends where samples are too few for one."""
        return self.summary.interval


@dataclass
class Curve:
    """Entries of one contender in ascending order of size, all of them verified and timed."""

    contender: str
    others: dict[str, Any]
    entries: list[Entry] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        return [entry.params[SIZE] for entry in self.entries]

    @cached_property
    def points(self) -> list[Point]:
        """What changes are looked for in: samples of one state of the machine."""
        return points(self.entries, SIZE)

    @property
    def launches(self) -> set[int]:
        """The launches that it was measured in."""
        return {line.launch for line in self._lines}

    @property
    def _lines(self) -> list[Case]:
        return [line for entry in self.entries for line in entry.lines if line.samples]

    @property
    def sends_messages(self) -> bool:
        """False for what goes through shared memory alone; what is not told counts as true."""
        return any(line.messages != 0 for line in self._lines)

    def label(self, names: Sequence[str]) -> str:
        """The parameters named, and the contender."""
        return " ".join([*(text(self.others.get(name)) for name in names), self.contender])


def curves(cases: Sequence[CaseResult]) -> list[Curve]:
    """Every curve of at least two sizes; the calls of MPI first, for theirs are the algorithms that nobody sees."""
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(contenders(cases), key=lambda name: not name.startswith("mpi_")):
        for case in sorted((case for case in cases if _size(case)), key=_size):
            entry = case.entries.get(name)
            if entry and entry.median:
                others = {key: value for key, value in case.params.items() if key != SIZE}
                found.setdefault((name, str(sorted(others.items()))), Curve(name, others)).entries.append(entry)
    return [curve for curve in found.values() if len(curve.entries) > 1]


def differing_parameters(all_curves: Sequence[Curve]) -> list[str]:
    """Parameters, other than the size, that tell curves apart."""
    names = dict.fromkeys(name for curve in all_curves for name in curve.others)
    return [name for name in names if len({text(curve.others.get(name)) for curve in all_curves}) > 1]


def _size(case: CaseResult) -> int:
    size = case.params.get(SIZE)
    return size if isinstance(size, int) else 0


def points(entries: Sequence[Entry], key: str) -> list[Point]:
    """A point per entry that has samples of the state in which most entries were measured."""
    boundary = state_boundary(all_probes(line for entry in entries for line in entry.lines))
    sides = [None] if boundary is None else [False, True]
    found = [[point for entry in entries if (point := _point(entry, key, boundary, side))] for side in sides]
    return max(found, key=len)


def _point(entry: Entry, key: str, boundary: float | None, far: bool | None) -> Point | None:
    by_launch = {line.launch: _of_state(line, boundary, far) for line in entry.lines if line.samples}
    kept = {launch: samples for launch, samples in by_launch.items() if len(samples)}
    summary = summarize(list(kept.values()))
    if summary is None or (far is not None and summary.count < LEAST_SAMPLES):
        return None
    return Point(int(entry.params[key]), kept, summary)


def _of_state(line: Case, boundary: float | None, far: bool | None) -> np.ndarray:
    samples, probes = np.asarray(line.samples, dtype=float), line.probes
    return samples if boundary is None or np.isnan(probes).all() else samples[(probes > boundary) == far]


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
    starts = _confirmed(points[first : cut + 1], against)
    return Change(KNEE, points[cut - 1].size, points[cut].size, growth, against, slopes, starts)


def _confirmed(points: list[Point], against: float) -> tuple[int, int]:
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


CONTENDER = "mpi_alltoall"
MICRO = 1e6
WORDS = ("image", "network", "reservation", "notes")
FIGURES = ("ranks", "size", "first call", "first of this size", "later calls")


@dataclass(frozen=True)
class PublishedRow:
    """One image on one network at one size; times in µs as `mean(std)`, empty where there is none.

    `first_call` is the very first collective call after MPI_Init, over launches; `first_of_size` the first with
    this size in ranks that are connected already; `later_calls` all samples.
    """

    image: str
    network: str
    reservation: str
    notes: str
    ranks: int
    size: int
    first_call: str
    first_of_size: str
    later_calls: str

    def words(self) -> list[str]:
        """The row of a table with the columns `WORDS`, then `FIGURES`."""
        figures = (self.first_call, self.first_of_size, self.later_calls)
        told = (self.image, self.network, self.reservation, self.notes, str(self.ranks), size_text(self.size), *figures)
        return [word or "–" for word in told]


def published_rows(record: Record, cases: Sequence[CaseResult]) -> list[PublishedRow]:
    """A row per case, by image, network, ranks and size; times of MPI's own call, or of the first contender there is."""
    if record.run.benchmark != "alltoall":
        return []
    rows = [_published_row(record, case, entry) for case in cases if (entry := _timed(case))]
    return sorted(rows, key=lambda row: (row.image, row.network, row.ranks, row.size))


def _timed(case: CaseResult) -> Entry | None:
    timed = [entry for entry in entries([case]) if entry.median and "size" in entry.params]
    return next((entry for entry in timed if entry.contender == CONTENDER), timed[0] if timed else None)


def _published_row(record: Record, case: CaseResult, entry: Entry) -> PublishedRow:
    numbers = {line.launch for line in entry.lines}
    launches = [launch for launch in record.launches if launch.launch in numbers]
    cold = [launch.cold_alltoall or {} for launch in launches]
    size, labels = case.params["size"], record.labels
    # What the user called it; else the MPI, for that is what an image differs in.
    named = " ".join(str(name) for name in (labels.get("image"), case.params.get("mpi")) if name)
    return PublishedRow(
        image=named or (mpi_name(launches[0]) if launches else "unknown"),
        network=str(case.params.get("network") or labels.get("network") or "default"),
        reservation=labels.get("reservation", ""),
        notes=labels.get("notes", ""),
        ranks=int(case.params.get("ranks", 0)),
        size=int(size),
        first_call=_mean_std(each.get("first_s") for each in cold if each.get("size") == size and each.get("verified")),
        first_of_size=_mean_std((line.setup_s or {}).get("first") for line in entry.lines),
        later_calls=_mean_std(sample for samples in entry.launches for sample in samples),
    )


def mpi_name(launch: Launch) -> str:
    """The MPI library in a few words."""
    lines = str(launch.mpi.get("library_version") or "").strip().splitlines() or ["unknown MPI"]
    return " ".join(lines[0].partition(",")[0].replace("Version:", "").replace("Library", "").split())


def _mean_std(seconds: Iterable[float | None]) -> str:
    known = [value * MICRO for value in seconds if value is not None]
    return mean_std(known) if known else ""


OF_COMBINATION = ("mpi", "network")
MOST_COLUMNS = 8
LEADERS = ("mpi_alltoall", "auto", "mpi")


@dataclass(frozen=True)
class MatrixRow:
    """One combination: the leading contender of each case, or the reason why there is none."""

    mpi: str
    network: str
    entries: list[Entry | None]
    reason: str | None


@dataclass(frozen=True)
class Matrix:
    """Combinations down, cases across; `contender` is the one whose times are shown."""

    contender: str
    columns: list[str]
    rows: list[MatrixRow]

    @property
    def ran(self) -> int:
        return sum(not row.reason for row in self.rows)


def matrix(cases: Sequence[CaseResult]) -> Matrix | None:
    """Rows in the order of names, many cases thinned out to a few columns; `None` where cases do not tell MPI and network."""
    if not any(all(name in case.params for name in OF_COMBINATION) for case in cases):
        return None
    names = contenders(cases)
    leader = next((name for name in LEADERS if name in names), names[0] if names else "")
    parameters = [parameter for parameter in varying(cases) if parameter not in OF_COMBINATION]
    labels = some(list(dict.fromkeys(_label(case, parameters) for case in in_order(cases))), MOST_COLUMNS)
    by_place = {(_place(case), _label(case, parameters)): case for case in cases}
    places = sorted(dict.fromkeys(map(_place, cases)))
    rows = [_matrix_row(place, [by_place.get((place, label)) for label in labels], leader, cases) for place in places]
    return Matrix(leader, labels, rows)


def _matrix_row(place: tuple[str, str], cases: list[CaseResult | None], name: str, every: Sequence[CaseResult]) -> MatrixRow:
    leading = [case.entries.get(name) if case else None for case in cases]
    mine = entries(case for case in every if _place(case) == place)
    reason = None if any(entry.ran for entry in mine) else next((entry.skipped for entry in mine if entry.skipped), None)
    return MatrixRow(*place, leading, reason)


def _place(case: CaseResult) -> tuple[str, str]:
    return text(case.params.get("mpi")), text(case.params.get("network"))


def _label(case: CaseResult, names: Sequence[str]) -> str:
    values = [size_text(value) if name == "size" else f"{name} {text(value)}" for name in names
              if (value := case.params.get(name)) is not None]  # fmt: skip
    return ", ".join(values) or case.name


BEND = 1.25


@dataclass(frozen=True)
class Break:
    """A knee, or a size at which more bytes take less time, with the MPI's own limits that lie there."""

    who: str
    kind: str
    what: str
    limits: list[str]


@dataclass(frozen=True)
class Sweep:
    """`quiet` lists limits of the MPI at which nothing changed, with the curve that each might have concerned."""

    published: list[PublishedRow]
    curves: list[Curve]
    breaks: list[Break]
    quiet: list[tuple[Threshold, str]]
    matrix: Matrix | None


def sweep(record: Record, cases: Sequence[CaseResult]) -> Sweep:
    """Empty lists where there is nothing of the kind."""
    lines = curves(cases)
    names = differing_parameters(lines)
    breaks, quiet = [], dict[tuple[Threshold, str], None]()
    for curve in lines:
        who, seen = curve.label(names), changes(curve)
        beside = thresholds(record, curve, seen)
        breaks += [Break(who, change.kind, change_text(change), [each.text for each in beside if change.covers(each.value)])
                   for change in seen]  # fmt: skip
        quiet |= {(each, who): None for each in beside if each.change is None}
    return Sweep(published_rows(record, cases), lines, breaks, list(quiet), matrix(cases))


def change_text(change: Change) -> str:
    """What was seen between two sizes."""
    moved = f"grows {change.growth:.2f} times" if change.growth >= 1 else f"drops by {percent(1 - change.growth, 0)}"
    knee = change.kind == KNEE and change.against
    than = f", to {change.against:.2f} times the trend of the smaller sizes{_slope(change)}" if knee else ": more bytes in less time"
    return f"from {size_text(change.below)} to {size_text(change.above)} the time {moved}{than}"


def _slope(change: Change) -> str:
    """Said where the line bends rather than jumps."""
    if change.ns_per_byte is None or not 1 / BEND < (change.against or 0) < BEND:
        return ""
    below, above = change.ns_per_byte
    return f"; a byte costs {above:.2g} ns from there, {below:.2g} ns before"


def sweep_document(record: Record, cases: Sequence[CaseResult]) -> dict[str, Any]:
    """`published`: the published layout, µs; `sweep`: changes and limits of each curve; `combinations` of a matrix."""
    made = matrix(cases)
    rows = made.rows if made else []
    combinations = [{"mpi": row.mpi, "network": row.network, "ran": row.reason is None, "reason": row.reason} for row in rows]
    return {
        **({"combinations": combinations} if made else {}),
        "published": published_rows(record, cases),
        "sweep": [curve_object(record, curve) for curve in curves(cases)],
    }


def curve_object(record: Record, curve: Curve) -> dict[str, Any]:
    """One curve: what was seen, beside what the MPI tells of itself."""
    seen = changes(curve)
    beside = thresholds(record, curve, seen)
    return {
        "contender": curve.contender,
        "params": curve.others,
        "changes": [
            {**asdict(change), "variables": sorted(each.name for each in beside if change.covers(each.value))} for change in seen
        ],
        "limits": [{"name": each.name, "bytes": each.value, "seen": each.change is not None} for each in beside],
        "limits_outside": sorted(set(limits(record, curve)) - {each.name for each in beside}),
    }

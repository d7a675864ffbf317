"""Sweeps over message sizes: knees of the time curve, MPI's own limits near them, matrices of MPIs × networks.

Within one algorithm a collective takes about a + b·size (Hockney, Parallel Computing 1994). A segmentation with a penalty
per line (Killick, Fearnhead & Eckley, JASA 2012) cuts a sweep into as few lines as explain it; each cut is a knee.
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
from .results import CaseResult, Entry, variants, entries, in_order, some, text, varying
from .statistics import LEAST_SAMPLES, Summary, all_probes, mean_std, state_boundary, summarize
from .words import percent, size_text

KNEE, NOT_MONOTONE = "knee", "not monotone"
LEAST_SIGMA = 0.05  # lower bound of relative deviations from a line
UNKNOWN_SIGMA = 4 * LEAST_SIGMA  # of a point with too few samples for an interval
LEAST_FALL = 0.95
FAR = 4.0  # sigmas: cap of a single point's misfit
PENALTY = 14.0  # chi-square that a cut's three parameters must explain (p = 0.003)
SHORTEST, SHORTEST_BENT = 2, 3
LEAST_SIZES = 4  # minimum for knees
BEND = 1.25


@dataclass(frozen=True)
class Point:
    """Samples of one size by launch, with their summary."""

    size: int
    by_launch: dict[int, np.ndarray]
    summary: Summary


@dataclass(frozen=True)
class Change:
    """A change between two neighboring sizes.

    `growth` is time above / time below, `against` time above / prediction of the line below (above 1: slower than predicted),
    `ns_per_byte` the slopes below and above. `launches` is the number of launches that show the change, and their total.
    """

    kind: str
    below: int
    above: int
    growth: float
    against: float | None = None
    ns_per_byte: tuple[float, float] | None = None
    launches: tuple[int, int] = (1, 1)

    def covers(self, value: float) -> bool:
        return self.below <= value <= self.above

    @property
    def text(self) -> str:
        moved = f"grows {self.growth:.2f} times" if self.growth >= 1 else f"drops by {percent(1 - self.growth, 0)}"
        than = ": more bytes in less time"
        if self.kind == KNEE and self.against:
            than = f", to {self.against:.2f} times the trend of the smaller sizes"
            if self.ns_per_byte and 1 / BEND < self.against < BEND:  # a bend, not a jump
                below, above = self.ns_per_byte
                than += f"; a byte costs {above:.2g} ns from there, {below:.2g} ns before"
        return f"from {size_text(self.below)} to {size_text(self.above)} the time {moved}{than}"


LIMIT = re.compile(r"SIZE|LIMIT|_MSG|THRESHOLD|MAX_SZ", re.IGNORECASE)
OTHER_CALLS = re.compile(r"NEIGHBOR|ALLTOALLW|SEGMENT|SEGSIZE|GPU|CTXID|BATCH|CH3|NEMESIS|IPC|^btl_self|^btl_vader", re.IGNORECASE)  # btl_vader: old name of btl_sm
COLLECTIVE = re.compile(r"ALLTOALL", re.IGNORECASE)
OF_CALL = {  # variables of one collective that affect a variant
    "mpi_alltoall": re.compile(r"[^I]ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoall_init": re.compile(r"ALLTOALL(?!V)", re.IGNORECASE),
    "mpi_ialltoall": re.compile(r"IALLTOALL(?!V)", re.IGNORECASE),
    "mpi_alltoallv": re.compile(r"[^I]ALLTOALLV", re.IGNORECASE),
}


@dataclass(frozen=True)
class Threshold:
    """A control variable in bytes, and the change that it may explain."""

    name: str
    value: int
    change: Change | None

    @property
    def text(self) -> str:
        return f"{self.name} = {self.value}"

    @property
    def of_collective(self) -> bool:
        return bool(COLLECTIVE.search(self.name))


@dataclass
class Curve:
    """Timed correct entries of one variant, by ascending size."""

    variant: str
    others: dict[str, Any]
    record: Record
    entries: list[Entry] = field(default_factory=list)

    @property
    def lines(self) -> list[Case]:
        return [line for entry in self.entries for line in entry.lines if line.samples]

    @cached_property
    def points(self) -> list[Point]:
        """A point per entry with samples of the machine state that most entries have."""
        boundary = state_boundary(all_probes(line for entry in self.entries for line in entry.lines))
        sides = [None] if boundary is None else [False, True]
        found = [[point for entry in self.entries if (point := _point(entry, boundary, side))] for side in sides]
        return max(found, key=len)

    @cached_property
    def changes(self) -> list[Change]:
        points = self.points
        if len(points) < LEAST_SIZES:
            return []
        sizes = np.array([point.size for point in points], dtype=float)
        seconds = np.array([point.summary.median for point in points])
        stretches = cuts(sizes, seconds, np.array([_sigma(point.summary) for point in points]))
        found = [_knee(points, sizes, seconds, *edges) for edges in zip([0, *stretches], stretches, [*stretches[1:], len(sizes)])]
        found += [_fall(below, above) for below, above in pairwise(points) if _falls(below.summary, above.summary)]
        confirmed = [change for change in found if 2 * change.launches[0] > change.launches[1]]
        return sorted(confirmed, key=lambda change: (change.below, change.kind))

    @cached_property
    def limits(self) -> dict[str, int]:
        """Limits in bytes that MPI reported in the curve's launches."""
        numbers = {line.launch for line in self.lines}
        told = [launch.mpi_cvars or {} for launch in self.record.launches if launch.launch in numbers]
        return {name: value for each in told for name, value in each.items() if self._is_limit(name, value)}

    def _is_limit(self, name: str, value: object) -> bool:
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0 or not LIMIT.search(name) or OTHER_CALLS.search(name):
            return False
        if not COLLECTIVE.search(name):  # message limits, which shared memory does not use
            return any(line.messages != 0 for line in self.lines)
        call = OF_CALL.get(self.variant)
        return bool(call and call.search(name))

    @cached_property
    def thresholds(self) -> list[Threshold]:
        """Limits within the sweep, ascending; several may explain one change."""
        if len(self.points) < LEAST_SIZES:
            return []
        least, most = (self.entries[place].params["size"] for place in (0, -1))
        inside = sorted(((name, value) for name, value in self.limits.items() if least <= value <= most), key=lambda each: each[1])
        return [Threshold(name, value, next((change for change in self.changes if change.covers(value)), None)) for name, value in inside]

    def beside(self, change: Change) -> list[Threshold]:
        return [each for each in self.thresholds if change.covers(each.value)]


def curves(record: Record, cases: Sequence[CaseResult]) -> list[Curve]:
    """All curves of at least two sizes, MPI calls first."""
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(variants(cases), key=lambda name: not name.startswith("mpi_")):
        for case in sorted((case for case in cases if _size(case)), key=_size):
            entry = case.entries.get(name)
            if entry and entry.median:
                others = {key: value for key, value in case.params.items() if key != "size"}
                found.setdefault((name, str(sorted(others.items()))), Curve(name, others, record)).entries.append(entry)
    return [curve for curve in found.values() if len(curve.entries) > 1]


def _size(case: CaseResult) -> int:
    size = case.params.get("size")
    return size if isinstance(size, int) else 0


def _point(entry: Entry, boundary: float | None, far: bool | None) -> Point | None:
    by_launch = {line.launch: _of_state(line, boundary, far) for line in entry.lines if line.samples}
    kept = {launch: samples for launch, samples in by_launch.items() if len(samples)}
    summary = summarize(list(kept.values()))
    if summary is None or (far is not None and summary.count < LEAST_SAMPLES):
        return None
    return Point(int(entry.params["size"]), kept, summary)


def _of_state(line: Case, boundary: float | None, far: bool | None) -> np.ndarray:
    samples, probes = np.asarray(line.samples, dtype=float), line.probes
    return samples if boundary is None or np.isnan(probes).all() else samples[(probes > boundary) == far]


def cuts(sizes: np.ndarray, seconds: np.ndarray, sigma: np.ndarray) -> list[int]:
    """First points of all segments but the first, by dynamic programming with O(n²) line fits."""
    count = len(sizes)
    best = [0.0] + [np.inf] * count
    starts: list[list[int]] = [[] for _ in range(count + 1)]
    for end in range(SHORTEST, count + 1):
        for start in range(0, end - SHORTEST + 1):
            cost = best[start] + _misfit(sizes[start:end], seconds[start:end], sigma[start:end]) + (PENALTY if start else 0.0)
            if cost < best[end]:
                best[end], starts[end] = cost, [*starts[start], start]
    return starts[count][1:]


def line(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Fit a + b·size by least squares of relative errors, with b of at least 0.

    a may be negative beyond a knee, where bytes cost more.
    """
    design = np.column_stack([1 / seconds, sizes / seconds])
    (a, b), *_ = np.linalg.lstsq(design, np.ones(len(sizes)), rcond=None)
    if b >= 0:
        return float(a), float(b)
    return float(design[:, 0].sum() / (design[:, 0] ** 2).sum()), 0.0


def _misfit(sizes: np.ndarray, seconds: np.ndarray, sigma: np.ndarray) -> float:
    a, b = line(sizes, seconds)
    if a < 0 and len(sizes) < SHORTEST_BENT:
        return np.inf  # two points across a jump are no segment
    return float(np.minimum(((a + b * sizes) / seconds - 1) ** 2 / sigma**2, FAR**2).sum())


def _sigma(summary: Summary) -> float:
    width = summary.interval.width
    return UNKNOWN_SIGMA if width is None else max(LEAST_SIGMA, width / summary.median / (2 * 1.96))


def _knee(points: list[Point], sizes: np.ndarray, seconds: np.ndarray, first: int, cut: int, end: int) -> Change:
    a, b = line(sizes[first:cut], seconds[first:cut])
    against = float(seconds[cut] / (a + b * sizes[cut]))
    slopes = (b * 1e9, line(sizes[cut:end], seconds[cut:end])[1] * 1e9)
    growth = float(seconds[cut] / seconds[cut - 1])
    return Change(KNEE, points[cut - 1].size, points[cut].size, growth, against, slopes, _confirmed(points[first : cut + 1], against))


def _confirmed(points: list[Point], against: float) -> tuple[int, int]:
    """Number of launches with the last point on the same side of the line through the others, and of all launches."""
    launches = set.intersection(*(set(point.by_launch) for point in points))
    sizes, same = np.array([point.size for point in points], dtype=float), 0
    for launch in launches:
        seconds = np.array([np.median(point.by_launch[launch]) for point in points])
        a, b = line(sizes[:-1], seconds[:-1])
        same += bool((seconds[-1] / (a + b * sizes[-1]) - 1) * (against - 1) > 0)
    return same, len(launches)


def _falls(below: Summary, above: Summary) -> bool:
    """Whether more bytes take clearly less time: the intervals are known and disjoint."""
    high, low = above.interval.high, below.interval.low
    return above.median < LEAST_FALL * below.median and high is not None and low is not None and high < low


def _fall(below: Point, above: Point) -> Change:
    both = set(below.by_launch) & set(above.by_launch)
    seen = sum(bool(np.median(above.by_launch[each]) < np.median(below.by_launch[each])) for each in both)
    return Change(NOT_MONOTONE, below.size, above.size, above.summary.median / below.summary.median, launches=(seen, len(both)))


WORDS = ("image", "network", "reservation", "notes")
FIGURES = ("ranks", "size", "first call", "first of this size", "later calls")


@dataclass(frozen=True)
class PublishedRow:
    """One image on one network at one size; times in µs as `mean(std)`, empty if unknown.

    `first_call` is the first collective call after MPI_Init, over launches; `first_of_size` the first with this size on
    connected ranks; `later_calls` all samples.
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
        told = asdict(self) | {"ranks": str(self.ranks), "size": size_text(self.size)}
        return [word or "–" for word in told.values()]


def published_rows(record: Record, cases: Sequence[CaseResult]) -> list[PublishedRow]:
    """A row per case, by image, network, ranks and size; times of `mpi_alltoall`, else of the first variant."""
    if record.run.benchmark != "alltoall":
        return []
    timed = [[entry for entry in entries([case]) if entry.median and "size" in entry.params] for case in cases]
    chosen = [next((entry for entry in each if entry.variant == "mpi_alltoall"), each[0]) for each in timed if each]
    return sorted((_published_row(record, entry) for entry in chosen), key=lambda row: (row.image, row.network, row.ranks, row.size))


def _published_row(record: Record, entry: Entry) -> PublishedRow:
    numbers, params, labels = {line.launch for line in entry.lines}, entry.params, record.labels
    launches = [launch for launch in record.launches if launch.launch in numbers]
    cold = [launch.cold_alltoall or {} for launch in launches]
    # The user's label, else the MPI.
    named = " ".join(str(name) for name in (labels.get("image"), params.get("mpi")) if name)
    return PublishedRow(
        image=named or (mpi_name(launches[0]) if launches else "unknown"),
        network=str(params.get("network") or labels.get("network") or "default"),
        reservation=labels.get("reservation", ""),
        notes=labels.get("notes", ""),
        ranks=int(params.get("ranks", 0)),
        size=int(params["size"]),
        first_call=_mean_std(each.get("first_s") for each in cold if each.get("size") == params["size"] and each.get("verified")),
        first_of_size=_mean_std((line.setup_s or {}).get("first") for line in entry.lines),
        later_calls=_mean_std(sample for samples in entry.launches for sample in samples),
    )


def mpi_name(launch: Launch) -> str:
    lines = str(launch.mpi.get("library_version") or "").strip().splitlines() or ["unknown MPI"]
    return " ".join(lines[0].partition(",")[0].replace("Version:", "").replace("Library", "").split())


def _mean_std(seconds: Iterable[float | None]) -> str:
    known = [value * 1e6 for value in seconds if value is not None]
    return mean_std(known) if known else ""


OF_COMBINATION = ("mpi", "network")
MOST_COLUMNS = 8
LEADERS = ("mpi_alltoall", "auto", "mpi")


@dataclass(frozen=True)
class MatrixRow:
    """One combination: the shown variant of each case, or the reason for its absence."""

    mpi: str
    network: str
    entries: list[Entry | None]
    reason: str | None


@dataclass(frozen=True)
class Matrix:
    """Combinations down, cases across; `variant` is the variant shown."""

    variant: str
    columns: list[str]
    rows: list[MatrixRow]

    @property
    def ran(self) -> int:
        return sum(not row.reason for row in self.rows)


def matrix(cases: Sequence[CaseResult]) -> Matrix | None:
    """Rows sorted by name, at most `MOST_COLUMNS` cases; `None` if cases lack MPI and network."""
    if not any(all(name in case.params for name in OF_COMBINATION) for case in cases):
        return None
    names = variants(cases)
    leader = next((name for name in LEADERS if name in names), names[0] if names else "")
    parameters = [parameter for parameter in varying(cases) if parameter not in OF_COMBINATION]
    labels = some(list(dict.fromkeys(_label(case, parameters) for case in in_order(cases))), MOST_COLUMNS)
    places: dict[tuple[str, str], dict[str, CaseResult]] = {}
    for case in cases:
        mpi, network = (text(case.params.get(name)) for name in OF_COMBINATION)
        places.setdefault((mpi, network), {})[_label(case, parameters)] = case
    rows = []
    for place, found in sorted(places.items()):
        leading = [found[label].entries.get(leader) if label in found else None for label in labels]
        mine = entries(found.values())
        reason = None if any(entry.ran for entry in mine) else next((entry.skipped for entry in mine if entry.skipped), None)
        rows.append(MatrixRow(*place, leading, reason))
    return Matrix(leader, labels, rows)


def _label(case: CaseResult, names: Sequence[str]) -> str:
    told = {name: case.params[name] for name in names if case.params.get(name) is not None}
    return ", ".join(size_text(value) if name == "size" else f"{name} {text(value)}" for name, value in told.items()) or case.name


@dataclass(frozen=True)
class Sweep:
    published: list[PublishedRow]
    curves: list[Curve]
    matrix: Matrix | None

    def label(self, curve: Curve) -> str:
        names = dict.fromkeys(name for each in self.curves for name in each.others)
        differing = [name for name in names if len({text(each.others.get(name)) for each in self.curves}) > 1]
        return " ".join([*(text(curve.others.get(name)) for name in differing), curve.variant])


def sweep(record: Record, cases: Sequence[CaseResult]) -> Sweep:
    return Sweep(published_rows(record, cases), curves(record, cases), matrix(cases))


def sweep_document(record: Record, cases: Sequence[CaseResult], states: Iterable[tuple[str, Sequence[CaseResult]]]) -> dict[str, Any]:
    """Return `published` (published layout by state of the cores, µs), `sweep` (changes and limits by curve) and a matrix's `combinations`."""
    found = sweep(record, cases)
    rows = found.matrix.rows if found.matrix else []
    published = [asdict(row) | {"cores": cores} for cores, some in states for row in published_rows(record, some)]
    combinations = [{"mpi": row.mpi, "network": row.network, "ran": row.reason is None, "reason": row.reason} for row in rows]
    return {**({"combinations": combinations} if found.matrix else {}), "published": published, "sweep": [_told(curve) for curve in found.curves]}


def _told(curve: Curve) -> dict[str, Any]:
    return {
        "variant": curve.variant,
        "params": curve.others,
        "changes": [{**asdict(each), "variables": sorted(limit.name for limit in curve.beside(each))} for each in curve.changes],
        "limits": [{"name": each.name, "bytes": each.value, "seen": each.change is not None} for each in curve.thresholds],
        "limits_outside": sorted(set(curve.limits) - {each.name for each in curve.thresholds}),
    }

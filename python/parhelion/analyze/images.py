"""Two software images side by side: figures, profiles, what differs, and likely causes, most probable first.

Weights are judgments, in points of a hundred: how often such a difference is why, where the figures changed. Signs in figures and
profiles move them. Every difference belongs to one cause: what follows from another MPI or from a variable is told under it.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..record.image import RAN, ImageError, MeasuredImage
from ..record.model import RecordError
from .comparison import Change, Comparison, Matched, RecordSet, Row, changes, compare_all, comparison_document, differing, match
from .profile import ASLEEP, WAITING, ProfileComparison, compare_profiles, library_name, part_of
from .profile import Difference as ShareDifference
from .profile import comparison_document as profile_document
from .results import in_order, results
from .statistics import DIFFERENT, IMAGE_RULES, Rules, Verdict
from .sweep import PublishedRow, mpi_name, published_rows
from .words import percent

SCHEMA = "parhelion.image-compare/1"
Images = tuple[MeasuredImage, MeasuredImage]

VARIABLE = ("variables ", "control variable ")  # of the command line's environment, and of the ranks'
OWN = "MPI's own "
GROUPS = {"through MPI": r"mpi_|hand_|pairwise|spread_out|bruck", "past MPI": r"(shared|staged_shared|xpmem|node_aware)$", "copying alone": r"floor_"}
SLOW_RANKS = re.compile(r"^slow ranks of (\S+) on \d+ ranks$")
CLEAR_SLEEP = 0.05  # of a rank's time more than the other image's same rank, apart from the other ranks
MUCH = math.log(1.2)
MUCH_WAITING = 0.15  # of the ranks' time

PROBABLE, POSSIBLE = 65.0, 35.0
MESSAGING = ("MPI", "UCX", "libfabric", "RDMA")  # parts of the software
PRELOAD, LIBRARY_PATH = "LD_PRELOAD", "LD_LIBRARY_PATH"
FAMILIES = {"MPICH": r"(MPIR_CVAR|MPIR_PARAM|MPICH)_", "Open MPI": r"(OMPI|PMIX|PRTE)_(MCA_)?", "Intel": r"I_MPI_"}
NETWORK = re.compile(r"^(UCX|FI|PSM2|PSM3|PSM|HFI|MLX5|IBV|NCCL)_")
THREADS = re.compile(r"^(OMP|OPENBLAS|MKL|NUMEXPR|KMP|GOMP)_|^MALLOC_|^GLIBC_TUNABLES$")
LIBRARY_NAME = re.compile(r"^lib(nl|ibverbs|rdmacm|mlx|efa|numa|hwloc|psm|opx)")

MACHINE = (
    (r"cpu model", 70, "another processor"),
    (r"oversubscribed|cpu usable|limits cgroup cpus", 66, "fewer or more cores for the ranks"),
    (r"binding of ranks|bound by", 62, "ranks stand on other cores"),
    (r"(ranks|hosts)$", 60, "other numbers of ranks or hosts"),
    (r"software kernel", 50, "another kernel"),
    (r"cpu (governor|boost)", 45, "another clock of the processor"),
    (r"software libc", 40, "another C library"),
    (r"limits ", 35, "other limits"),
    (r"(transparent huge pages|numa)", 30, "another handling of memory"),
    (r"cpu |memory", 25, "another machine"),
    (r"software (distribution|revision)", 20, "another distribution or revision"),
    (r"host", 15, "another host"),
    (r"software", 8, "other packages or another compiler"),
)


@dataclass(frozen=True)
class Difference(Change):
    """One fact that differs. `kind`: environment, ranks, libraries, files, channels or behavior."""

    kind: str

    @property
    def sides(self) -> tuple[str | None, str | None]:
        return self.first, self.second

    @property
    def variable(self) -> str | None:
        """The environment variable that this tells of."""
        return next((self.name.removeprefix(each) for each in VARIABLE if self.name.startswith(each)), None)

    @property
    def one_sided(self) -> bool:
        """Only one of the images has it."""
        return None in self.sides

    @property
    def part(self) -> str:
        """The part of the software that a library belongs to."""
        return part_of(self.second or self.first or "", ())

    @property
    def text(self) -> str:
        return f"{self.name}: {_value(self.first)} → {_value(self.second)}"


def _value(value: str | None) -> str:
    return "not set" if value is None else value or "empty"


def differences(images: Images) -> list[Difference]:
    """Everything that was recorded and differs."""
    found = changes(*(RecordSet(each.image.image, list(each.records.values())) for each in images))
    bindings = [{"binding of ranks": told} if (told := _bindings(each)) else {} for each in images]
    shared = [path for path in images[0].image.files if path in images[1].image.files]
    contents = [{path: f"{(file := each.image.files[path]).bytes} bytes, SHA-256 {file.sha256}…" for path in shared} for each in images]
    # An MPI that is silent, or a run that was cut short, has not changed its channels.
    channels = [each.image.providers for each in images]
    kinds = {"environment": found.environment, "ranks": [*found.ranks, *differing(*bindings)], "libraries": found.libraries, "files": differing(*contents),
             "channels": differing(*channels) if all(channels) else [], "behavior": found.behavior}  # fmt: skip
    return [Difference(each.name, each.first, each.second, kind) for kind, listed in kinds.items() for each in listed]


def _bindings(image: MeasuredImage) -> str:
    """The hardware threads of every rank, in each of the ways in which launches had them."""
    bindings = [launch.binding for record in image.records.values() for launch in record.launches if launch.binding]
    return " | ".join(sorted({", ".join(f"{rank}: {each}" for rank, each in enumerate(binding)) for binding in bindings}))


class Pool:
    """Differences that no cause has been found for yet."""

    def __init__(self, found: Iterable[Difference]) -> None:
        self.left = list(found)

    def take(self, wanted: Callable[[Difference], bool]) -> list[Difference]:
        """Those that `wanted` tells, which then belong to one cause and to no other."""
        taken = [each for each in self.left if wanted(each)]
        self.left = [each for each in self.left if each not in taken]
        return taken

    def variables(self, name: str) -> list[Difference]:
        return self.take(lambda each: each.variable == name)


@dataclass(frozen=True)
class Sleeper:
    """A rank that sleeps more in one image than in the other, and otherwise than the other ranks do."""

    benchmark: str
    share: ShareDifference

    @property
    def rank(self) -> int | None:
        return self.share.rank

    @property
    def text(self) -> str:
        where = f"asleep in {self.share.key.symbol}" if self.share.key.symbol not in ("", "unknown") else "asleep or stopped"
        return f"profile of {self.benchmark}: {where} for {percent(self.share.first)} of its time in A, {percent(self.share.second)} in B"


@dataclass(frozen=True)
class Evidence:
    """Signs in figures and profiles. `moved`: per group of contenders, the typical ratio B / A over its figures."""

    images: Images
    changed: list[tuple[str, Row]]
    moved: dict[str, float]
    profiles: Mapping[str, ProfileComparison]
    sleepers: list[Sleeper] = field(default_factory=list)

    @property
    def machine_moved(self) -> bool:
        """Even what does nothing but copy took another time: then the machine is suspected before MPI."""
        copying, mpi = (abs(math.log(self.moved.get(name, 1.0))) for name in ("copying alone", "through MPI"))
        return copying > MUCH and copying > mpi / 2

    @property
    def mpi_moved(self) -> bool:
        """What goes through MPI took another time, and what goes past it did not."""
        return abs(math.log(self.moved.get("through MPI", 1.0))) > MUCH and not self.machine_moved

    @property
    def waiting(self) -> ShareDifference | None:
        """How much the ranks waited for cores that others had, in the profile where that changed most."""
        return _most(each for profile in self.profiles.values() for each in profile.parts if each.key.part == WAITING)

    def library(self, name: str) -> tuple[float, float] | None:
        """The share of the time of a library in both images, kernel and libc charged to it, in the profile where it changed most."""
        most = _most(each for profile in self.profiles.values() for each in profile.charged if each.key.library and each.key.name == name)
        return (most.first, most.second) if most else None

    def mpi(self) -> list[str]:
        """The MPI library of both images."""
        launches = ([launch for record in image.records.values() for launch in record.launches] for image in self.images)
        return [mpi_name(each[0]) if each else "unknown MPI" for each in launches]


def _most(shares: Iterable[ShareDifference]) -> ShareDifference | None:
    return max(shares, key=lambda each: abs(each.change), default=None)


def evidence(images: Images, compared: Mapping[str, Comparison], profiles: Mapping[str, ProfileComparison]) -> Evidence:
    """Read all signs; figures that changed most and ranks that sleep most stand first."""
    rows = [(benchmark, row) for benchmark, found in compared.items() for row in found.rows]
    changed = [(benchmark, row) for benchmark, row in rows if row.verdict in DIFFERENT and row.difference.ratio]
    changed.sort(key=lambda each: -abs(math.log(each[1].difference.ratio or 1.0)))
    logs: dict[str, list[float]] = {}
    for benchmark, row in rows:
        first, second = row.medians
        name = next((name for name, pattern in GROUPS.items() if re.match(pattern, row.contender)), None)
        if name and first and second and benchmark != "setup":
            logs.setdefault(name, []).append(math.log(second / first))
    moved = {name: float(np.exp(np.median(values))) for name, values in logs.items()}
    sleepers = [Sleeper(benchmark, each) for benchmark, profile in profiles.items() for each in profile.ranks
                if each.rank is not None and each.key.part == ASLEEP and abs(each.change) > CLEAR_SLEEP]  # fmt: skip
    return Evidence(images, changed, moved, profiles, sorted(sleepers, key=lambda each: -abs(each.share.change)))


@dataclass(frozen=True)
class Cause:
    """`title` names it; `why` says what speaks for it; `facts` are the differences that it takes with it.

    `loaded` names a library that one side alone has, `sleeps` a rank that sleeps there; `side` is that image.
    """

    title: str
    weight: float
    why: list[str] = field(default_factory=list)
    facts: list[Difference] = field(default_factory=list)
    side: str | None = None
    loaded: str | None = None
    sleeps: bool = False

    @property
    def likelihood(self) -> str:
        return "probable" if self.weight >= PROBABLE else "possible" if self.weight >= POSSIBLE else "hardly"


Rule = Callable[[Pool, Evidence], list[Cause]]


def causes(found: Sequence[Difference], signs: Evidence) -> list[Cause]:
    """Every difference in one cause or another, the most probable cause first."""
    pool = Pool(each for each in found if each.kind != "behavior" or SLOW_RANKS.match(each.name))
    rules: tuple[Rule, ...] = (_another_mpi, _preloaded, _variables, _libraries, _channels, _slow, _busy, _around)
    listed = [cause for rule in rules for cause in rule(pool, signs)]
    return sorted(_joined(listed), key=lambda cause: -cause.weight)


def _another_mpi(pool: Pool, signs: Evidence) -> list[Cause]:
    if not any(each.name == "mpi library version" for each in pool.left):
        return []
    first, second = signs.mpi()
    asked = {each.variable for each in pool.left if each.kind == "environment" and each.variable}
    why = [f"typical ratio B / A {name}: {ratio:.2f}" for name, ratio in signs.moved.items() if name != "copying alone"]
    title = f"another MPI: {first} → {second}" if first != second else f"another build of {first}"
    return [Cause(title, 100, why, pool.take(lambda each: _of_mpi(each, asked)))]


def _of_mpi(each: Difference, asked: set[str]) -> bool:
    """Whether it follows from another MPI: what nobody asked for in the environment of the command line, and no preloaded library."""
    if each.variable:
        return each.variable == "PARHELION_FLAVOR" or each.variable not in asked
    if each.kind == "libraries":
        return each.one_sided or each.part in (*MESSAGING, "Parhelion")
    return each.kind == "channels" or each.name == "flavor" or each.name.startswith(("mpi ", OWN, "bound by"))


def _preloaded(pool: Pool, signs: Evidence) -> list[Cause]:
    """Libraries that LD_PRELOAD names, with that variable."""
    variable = pool.variables(PRELOAD)
    named = {library_name(word) for each in variable for value in each.sides if value for word in re.split(r"[: |]+", value)}
    libraries = pool.take(lambda each: each.kind == "libraries" and each.name in named) if variable else []
    if variable and not libraries:
        return [Cause(f"{PRELOAD} differs, but names no library that was loaded", 20, [], variable)]
    return [_library(each, 88, "preloaded", signs, variable) for each in libraries]


def _library(each: Difference, weight: float, how: str, signs: Evidence, with_it: Sequence[Difference] = ()) -> Cause:
    name = (each.second or each.first or "").rpartition("/")[2]
    side = ("B" if each.second else "A") if each.one_sided else None
    shares, why = signs.library(each.name), []
    if shares and max(shares) > 0.005:
        why = [f"{name} takes {percent(shares[1])} of the sampled time in B, {percent(shares[0])} in A"]
        weight += 12 * min(1.0, abs(shares[1] - shares[0]) / 0.1)
    elif signs.profiles and not signs.sleepers:
        why = [f"{name} takes none of the sampled time"]
        weight -= 30
    title = f"library {name} {how} " + (f"in {side} alone" if side else "from another place")
    return Cause(title, weight, why, [each, *with_it], side, f"{how} {name}")


def _variables(pool: Pool, signs: Evidence) -> list[Cause]:
    """Each environment variable, with what MPI tells of its effect."""
    names = dict.fromkeys(each.variable for each in pool.left if each.variable and each.variable != LIBRARY_PATH)
    weighed = sorted(((name, _variable_weight(name, signs)) for name in names), key=lambda each: -each[1])
    return [_variable(name, weight, pool, signs) for name, weight in weighed]


def _variable_weight(name: str, signs: Evidence) -> float:
    family = next((mpi for mpi, pattern in FAMILIES.items() if re.match(pattern, name)), None)
    if family:
        return 80 if any(each.startswith(family) for each in signs.mpi()) else 5
    if NETWORK.match(name):
        return 77
    return 55 if name.startswith("PARHELION_") else 45 if THREADS.match(name) else 40


def _variable(name: str, weight: float, pool: Pool, signs: Evidence) -> Cause:
    facts, seen = pool.variables(name), []
    first, second = facts[0].sides
    steers = weight > 70
    if steers:
        own = (OWN + name, OWN + re.sub(r"^OMPI_MCA_", "", name).replace("_", " "))
        seen = pool.take(lambda each: each.name in own) + pool.take(lambda each: each.kind == "channels")
    why = [each.text for each in seen]
    seen += pool.take(lambda each: _brought_along(each) or _come_or_gone(each)) if steers else []
    if weight < 10:
        why.append("the MPIs that ran do not read it")
    if steers and signs.mpi_moved:
        why.append("what goes through MPI changed, copying alone did not")
    words = {row.contender.removeprefix("mpi_") for _, row in signs.changed} | {benchmark for benchmark, _ in signs.changed}
    related = next((word for word in sorted(words, key=len, reverse=True) if len(word) > 3 and word.upper() in name), None)
    why += [f"its name tells of {related}, which changed"] if related else []
    weight += 4 * bool(seen) + 3 * (steers and signs.mpi_moved) + 4 * bool(related)
    return Cause(f"control variable {name}: {_value(first)} → {_value(second)}", weight, why, [*facts, *seen])


def _brought_along(each: Difference) -> bool:
    """A library of the messaging software that one side alone has loaded."""
    return each.kind == "libraries" and each.one_sided and (each.part in MESSAGING or bool(LIBRARY_NAME.match(each.name)))


def _come_or_gone(each: Difference) -> bool:
    """A variable of a part of the MPI that one side alone has opened."""
    return each.name.startswith(OWN) and each.one_sided


def _libraries(pool: Pool, signs: Evidence) -> list[Cause]:
    """Libraries that are loaded by one side alone or from elsewhere, or whose file holds something else."""
    paths = pool.variables(LIBRARY_PATH)
    found = [_library(each, 58 if each.one_sided else 72 if each.part in (*MESSAGING, "libc") else 60, "loaded", signs)
             for each in pool.take(lambda each: each.kind == "libraries")]  # fmt: skip
    found += [_other_content(each, signs) for each in pool.take(lambda each: each.kind == "files")]
    if paths and found:
        best = max(found, key=lambda cause: cause.weight)
        best.facts.extend(paths)
        best.why.append(f"{LIBRARY_PATH} differs: {paths[0].text.partition(': ')[2]}")
    elif paths:
        found.append(Cause(f"control variable {LIBRARY_PATH}, by which no other library was found", 10, [], paths))
    return found


def _other_content(each: Difference, signs: Evidence) -> Cause:
    part, name = part_of(each.name, ()), each.name.rpartition("/")[2]
    weight = 74 if part in (*MESSAGING, "libc") else 55 if part == "Parhelion" else 45
    shares = signs.library(library_name(each.name))
    moved = abs(shares[1] - shares[0]) if shares else 0.0
    why = [f"its share of the sampled time: {percent(shares[0])} → {percent(shares[1])}"] if shares and moved > 0.01 else []
    return Cause(f"library {name} holds something else, at the same place", weight + 10 * min(1.0, moved / 0.1), why, [each])


def _channels(pool: Pool, signs: Evidence) -> list[Cause]:
    """Values and channels of the MPI that changed though no variable that was recorded did."""
    parts = pool.take(_come_or_gone)
    own = pool.take(lambda each: each.name.startswith(OWN))
    found = [Cause(f"control variable {each.name.removeprefix(OWN).replace(' ', '_')}, as the MPI tells it: {_value(each.first)} → {_value(each.second)}", 76,
                   ["set by no variable that was recorded: by a file, or by default"], [each]) for each in own]  # fmt: skip
    if parts:
        found.append(Cause(f"the MPI has other parts open: {len(parts)} of its own control variables are there in one image alone", 60, [], parts))
    chosen = pool.take(lambda each: each.kind == "channels")
    return found + [Cause(f"the MPI chose another channel: {each.text}", 74, [], [each]) for each in chosen]


def _slow(pool: Pool, signs: Evidence) -> list[Cause]:
    """One cause per rank that sleeps, or takes longer, apart from the others."""
    slow = pool.take(lambda each: each.kind == "behavior")
    sides = [{rank for value in values for rank in _ranks(value)} for values in zip(*(each.sides for each in slow), strict=True)]
    in_one = sorted(sides[0] ^ sides[1]) if sides else []
    return [_slow_rank(rank, slow, signs) for rank in dict.fromkeys([*(each.rank for each in signs.sleepers), *in_one]) if rank is not None]


def _ranks(value: str | None) -> list[int]:
    return [int(word) for word in re.findall(r"\d+", value or "")]


def _slow_rank(rank: int, slow: Sequence[Difference], signs: Evidence) -> Cause:
    facts = [each for each in slow if any(rank in _ranks(value) for value in each.sides)]
    changed = {row.contender for _, row in signs.changed}
    whose = [match[1] for each in facts if (match := SLOW_RANKS.match(each.name)) and match[1] in changed]
    why = [f"its own time stands out from the other ranks' in {', '.join(whose[:6])}{' and others' if len(whose) > 6 else ''}"] if whose else []
    sleeps = [each for each in signs.sleepers if each.rank == rank]
    if not sleeps:
        side = "B" if any(each.second for each in facts) else "A"
        return Cause(f"rank {rank} takes longer than the others in {side}", 20 + 6 * min(len(whose), 8), why, facts, side)
    most = sleeps[0].share.change
    side = "B" if most > 0 else "A"
    weight = 62 + 36 * min(1.0, abs(most) / 0.25)
    return Cause(f"rank {rank} sleeps in {side}", weight, [each.text for each in sleeps] + why, facts, side, sleeps=True)


def _busy(pool: Pool, signs: Evidence) -> list[Cause]:
    """Ranks that had to wait for cores which others had."""
    waited = signs.waiting
    if not waited or abs(waited.change) < MUCH_WAITING:
        return []
    told = f"the ranks waited for a core for {percent(waited.first)} of their time in A, {percent(waited.second)} in B, while they were profiled"
    return [Cause(f"other work ran on the cores in {'B' if waited.change > 0 else 'A'}", 50, [told, "repeat when the machine is quiet"])]


def _around(pool: Pool, signs: Evidence) -> list[Cause]:
    """The machine and the rest of the software."""
    found = []
    for pattern, weight, title in MACHINE:
        facts = pool.take(lambda each, pattern=pattern: bool(re.match(pattern, each.name)))  # type: ignore[misc]
        if facts:
            bonus = 30 if signs.machine_moved and weight >= 15 else 0
            why = ["copying alone changed as well, which no MPI takes part in"] if bonus else []
            found.append(Cause(f"{title}: {facts[0].text}", weight + bonus, why, facts))
    return found + [Cause(each.text, 5, [], [each]) for each in pool.left]


def _joined(listed: list[Cause]) -> list[Cause]:
    """A rank that sleeps beside a library that only that image has loaded: the first thing to look at, said in one line."""
    for sleeper in [cause for cause in listed if cause.sleeps]:
        for library in [cause for cause in listed if cause.loaded and cause.side == sleeper.side]:
            both = Cause(f"{sleeper.title}, which alone has {library.loaded}", max(sleeper.weight, library.weight),
                         [*sleeper.why, *library.why], [*library.facts, *sleeper.facts], sleeper.side)  # fmt: skip
            return [both, *(cause for cause in listed if cause not in (sleeper, library))]
    return listed


@dataclass(frozen=True)
class ImageComparison:
    """B against A. `changed` is ranked by how much; `missing` says what cannot be compared and why."""

    images: Images
    benchmarks: dict[str, Comparison]
    profiles: dict[str, ProfileComparison]
    changed: list[tuple[str, Row]]
    moved: dict[str, float]
    differences: list[Difference]
    causes: list[Cause]
    missing: list[str]

    @property
    def total(self) -> int:
        """Figures that both images have."""
        return sum(len(found.rows) for found in self.benchmarks.values())

    def count(self, verdict: Verdict) -> int:
        """Figures of that verdict, over all benchmarks."""
        return sum(found.count(verdict) for found in self.benchmarks.values())

    @property
    def failed(self) -> list[str]:
        """What gave wrong values or broke down in B."""
        return [name for found in self.benchmarks.values() for name in found.failed["B"]]

    @property
    def published(self) -> list[PublishedRow]:
        """Both images in the layout of the published image test, size by size."""
        records = [image.records["alltoall"] for image in self.images if "alltoall" in image.records]
        rows = [row for record in records for row in published_rows(record, in_order(results(record.cases)))]
        return sorted(rows, key=lambda row: (row.ranks, row.size))  # stable: A before B


def compare_images(first: MeasuredImage, second: MeasuredImage, rules: Rules = IMAGE_RULES) -> ImageComparison:
    """Compare B (`second`) with A (`first`); raises `ImageError` when they have no figure in common.

    Causes are looked for where figures changed or values are wrong: without that there is nothing to explain.
    """
    images = (first, second)
    compared, missing = _compared(images, rules)
    if not compared:
        why = "; ".join(missing or ["nothing was measured"])
        raise ImageError(f"{first.image.image} and {second.image.image} have no figure in common: {why}")
    profiles = {name: compare_profiles(each, second.profiles[name]) for name, each in first.profiles.items() if name in second.profiles}
    signs, found = evidence(images, compared, profiles), differences(images)
    unlike = signs.changed or any(each.failed["B"] for each in compared.values())
    return ImageComparison(images, compared, profiles, signs.changed, signs.moved, found, causes(found, signs) if unlike else [], missing)


def _compared(images: Images, rules: Rules) -> tuple[dict[str, Comparison], list[str]]:
    """The figures of all benchmarks are one family: equal images have nothing that differs, whatever there is to be compared."""
    matched: dict[str, Matched] = {}
    missing = [f"{side}: {part}: {why}" for side, image in zip("AB", images, strict=True)
               for part, why in image.image.parts.items() if why != RAN]  # fmt: skip
    for benchmark in images[0].records:
        if benchmark in images[1].records:
            try:
                matched[benchmark] = match(*(RecordSet(each.image.image, [each.records[benchmark]]) for each in images))
            except RecordError as error:
                missing.append(str(error))
    return dict(zip(matched, compare_all(list(matched.values()), rules), strict=True)), missing


def image_document(found: ImageComparison) -> dict[str, Any]:
    """Causes first, the most probable one first; then every figure and every difference. Ratios are B / A."""
    told = ("image", "created", "ranks", "flavor", "labels", "providers")
    return {
        "schema": SCHEMA,
        **{side: {name: getattr(each.image, name) for name in told} for side, each in zip("AB", found.images, strict=True)},
        "figures": {str(verdict): found.count(verdict) for verdict in Verdict},
        "causes": [{name: getattr(cause, name) for name in ("title", "likelihood", "weight", "why", "facts")} for cause in found.causes],
        "changed": [{"benchmark": benchmark, "params": row.case.params, "contender": row.contender, "ratio": row.difference.ratio,
                     "ci95": row.difference.interval, "verdict": row.verdict} for benchmark, row in found.changed],
        "typical_ratios": found.moved,
        "published": found.published,
        "differences": found.differences,
        "benchmarks": {name: comparison_document(each) for name, each in found.benchmarks.items()},
        "profiles": {name: profile_document(each) for name, each in found.profiles.items()},
        "missing": found.missing,
    }  # fmt: skip

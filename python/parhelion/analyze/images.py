"""Comparison of two software images: timings, profiles, differences, and likely causes, most probable first.

Weights (about 0 to 100) are judgments of how often such a difference explains changed timings; evidence adjusts them.
Each difference belongs to one cause, which includes the consequences of another MPI or variable.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..record.image import RAN, ImageError, MeasuredImage
from ..record.model import RecordError
from .comparison import Change, Comparison, RecordSet, Row, changes, compare_all, comparison_document, differing, library_name, match
from .profile import ASLEEP, WAITING, ProfileComparison, ShareChange, compare_profiles, part_of
from .profile import comparison_document as profile_document
from .results import in_order, results
from .statistics import DIFFERENT, IMAGE_RULES, Rules, Verdict, of_images
from .sweep import PublishedRow, mpi_name, published_rows
from .words import percent

SCHEMA = "parhelion.image-compare/1"
Images = tuple[MeasuredImage, MeasuredImage]

GROUPS = {"through MPI": r"mpi_|hand_|pairwise|spread_out|bruck", "past MPI": r"(shared|staged_shared|xpmem|node_aware)$", "copying alone": r"floor"}
SLOW_RANKS = re.compile(r"slow ranks of (\S+) on \d+ ranks$")
CLEAR_SLEEP = 0.05  # least change of a rank's share of sleep between the images
MUCH = math.log(1.2)
MUCH_WAITING = 0.15  # share of the ranks' time
PROBABLE, POSSIBLE = 65.0, 35.0

OWN = "MPI's own "
PRELOAD, LIBRARY_PATH = "LD_PRELOAD", "LD_LIBRARY_PATH"
MESSAGING = ("MPI", "UCX", "libfabric", "RDMA")  # software components
MESSAGING_LIBRARY = re.compile(r"lib(nl|ibverbs|rdmacm|mlx|efa|numa|hwloc|psm|opx)")
NOT_READ = 5  # weight of a variable of an MPI that did not run
VARIABLES = (  # pattern, weight, the MPI that reads it
    (r"(MPIR_CVAR|MPIR_PARAM|MPICH)_", 80, "MPICH"),
    (r"(OMPI|PMIX|PRTE)_", 80, "Open MPI"),
    (r"I_MPI_", 80, "Intel"),
    (r"(UCX|FI|PSM2|PSM3|PSM|HFI|MLX5|IBV|NCCL)_", 77, ""),
    (r"PARHELION_", 55, ""),
    (r"(OMP|OPENBLAS|MKL|NUMEXPR|KMP|GOMP)_|MALLOC_|GLIBC_TUNABLES$", 45, ""),
    (r"", 40, ""),
)
MACHINE = (
    (r"cpu model", 70, "another processor"),
    (r"oversubscribed|cpu usable|limits cgroup cpus", 66, "fewer or more cores for the ranks"),
    (r"binding of ranks|bound by", 62, "ranks are bound to other cores"),
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
class Fact(Change):
    kind: str

    @property
    def variable(self) -> str | None:
        """The environment variable, of the command line or of the ranks, that the fact describes."""
        found = re.match(r"(?:control variable|variables) (.*)", self.name)
        return found and found[1]

    @property
    def one_sided(self) -> bool:
        return None in (self.first, self.second)

    @property
    def path(self) -> str:
        return self.name if self.kind == "files" else self.second or self.first or ""

    @property
    def part(self) -> str:
        return part_of(self.path, ())

    @property
    def text(self) -> str:
        return f"{self.name}: {self.move}"

    @property
    def move(self) -> str:
        return " → ".join("not set" if value is None else value or "empty" for value in (self.first, self.second))


@dataclass(frozen=True)
class Cause:
    """A likely cause: `why` lists the evidence, `facts` the differences that it explains.

    `loaded` names a library, `sleeps` marks a sleeping rank, that only image `side` has.
    """

    title: str
    weight: float
    why: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    side: str | None = None
    loaded: str | None = None
    sleeps: bool = False

    @property
    def likelihood(self) -> str:
        return "probable" if self.weight >= PROBABLE else "possible" if self.weight >= POSSIBLE else "hardly"


@dataclass(frozen=True)
class ImageComparison:
    """B against A; `missing` lists comparisons not made, with reasons."""

    images: Images
    benchmarks: dict[str, Comparison]
    profiles: dict[str, ProfileComparison]
    missing: list[str]

    @property
    def rows(self) -> list[tuple[str, Row]]:
        return [(benchmark, row) for benchmark, found in self.benchmarks.items() for row in found.rows]

    def count(self, verdict: Verdict) -> int:
        return sum(found.count(verdict) for found in self.benchmarks.values())

    @property
    def failed(self) -> list[str]:
        return [name for found in self.benchmarks.values() for name in found.failed["B"]]

    @property
    def published(self) -> list[PublishedRow]:
        """Rows of both images in the published layout, by ranks and size."""
        records = [image.records["alltoall"] for image in self.images if "alltoall" in image.records]
        rows = [row for record in records for row in published_rows(record, in_order(results(record.cases)))]
        return sorted(rows, key=lambda row: (row.ranks, row.size))  # stable: A before B

    @cached_property
    def changed(self) -> list[tuple[str, Row]]:
        """Timings that differ, largest change first."""
        rows = [each for each in self.rows if each[1].verdict in DIFFERENT]
        return sorted(rows, key=lambda each: -abs(math.log(each[1].difference.ratio or 1.0)))

    @cached_property
    def moved(self) -> dict[str, float]:
        """Median ratio B / A of each group of variants."""
        logs: dict[str, list[float]] = {}
        for benchmark, row in self.rows:
            first, second = row.medians
            name = next((name for name, pattern in GROUPS.items() if re.match(pattern, row.variant)), None)
            if name and first and second and benchmark != "setup":
                logs.setdefault(name, []).append(math.log(second / first))
        return {name: float(np.exp(np.median(values))) for name, values in logs.items()}

    def _move(self, group: str) -> float:
        return abs(math.log(self.moved.get(group, 1.0)))

    @property
    def machine_moved(self) -> bool:
        """Whether copying alone changed too, which suggests the machine rather than MPI."""
        return self._move("copying alone") > max(MUCH, self._move("through MPI") / 2)

    @property
    def mpi_moved(self) -> bool:
        """Whether variants through MPI changed and copying alone did not."""
        return self._move("through MPI") > MUCH and not self.machine_moved

    @cached_property
    def sleepers(self) -> list[tuple[str, ShareChange]]:
        """Ranks whose sleep changed differently from the other ranks', with the benchmark; largest change first."""
        found = [(benchmark, each) for benchmark, profile in self.profiles.items() for each in profile.ranks
                 if each.key.part == ASLEEP and abs(each.change) > CLEAR_SLEEP]
        return sorted(found, key=lambda each: -abs(each[1].change))

    @property
    def waiting(self) -> ShareChange | None:
        """Share of time waiting for busy cores, from the profile with the largest change."""
        return _most(each for profile in self.profiles.values() for each in profile.parts if each.key.part == WAITING)

    def library(self, name: str) -> ShareChange | None:
        """A library's share of time, with kernel and libc, from the profile with the largest change."""
        return _most(each for profile in self.profiles.values() for each in profile.charged if each.key.library and each.key.name == name)

    @cached_property
    def mpi(self) -> list[str]:
        launches = ([launch for record in image.records.values() for launch in record.launches] for image in self.images)
        return [mpi_name(each[0]) if each else "unknown MPI" for each in launches]

    @cached_property
    def differences(self) -> list[Fact]:
        images = self.images
        found = changes(*(RecordSet(each.image.image, list(each.records.values())) for each in images))
        bindings = [{"binding of ranks": told} if (told := _bindings(each)) else {} for each in images]
        shared = [path for path in images[0].image.files if path in images[1].image.files]
        contents = [{path: f"{(file := each.image.files[path]).bytes} bytes, SHA-256 {file.sha256}…" for path in shared} for each in images]
        channels = [each.image.providers for each in images]
        # A silent MPI or a truncated run is no change of channels.
        more = {"files": differing(*contents), "channels": differing(*channels) if all(channels) else []}
        kinds = {"environment": found["environment"], "ranks": found["ranks"] + differing(*bindings), "libraries": found["libraries"],
                 **more, "behavior": found["behavior"]}
        return [Fact(each.name, each.first, each.second, kind) for kind, listed in kinds.items() for each in listed]

    @cached_property
    def causes(self) -> list[Cause]:
        """Likely causes; empty if no timing changed and no value is wrong."""
        return causes(self) if self.changed or self.failed else []


def _bindings(image: MeasuredImage) -> str:
    """Distinct bindings of ranks to hardware threads over all launches."""
    bindings = [launch.binding for record in image.records.values() for launch in record.launches if launch.binding]
    return " | ".join(sorted({", ".join(f"{rank}: {each}" for rank, each in enumerate(binding)) for binding in bindings}))


def _most(shares: Iterable[ShareChange]) -> ShareChange | None:
    return max(shares, key=lambda each: abs(each.change), default=None)


def causes(found: ImageComparison) -> list[Cause]:
    """Assign each difference to a cause; return the most probable cause first."""
    listed = list(_Search(found).all())
    # Join a sleeping rank with a library that only the same image loads.
    pairs = [(sleeper, library) for sleeper in listed if sleeper.sleeps for library in listed if library.loaded and library.side == sleeper.side]
    for sleeper, library in pairs[:1]:
        both = Cause(f"{sleeper.title}, which alone has {library.loaded}", max(sleeper.weight, library.weight),
                     sleeper.why + library.why, library.facts + sleeper.facts)
        listed = [both, *(cause for cause in listed if cause not in (sleeper, library))]
    return sorted(listed, key=lambda cause: -cause.weight)


class _Search:
    """Search for causes; `left` holds unexplained differences."""

    def __init__(self, signs: ImageComparison) -> None:
        self.signs = signs
        self.left = [each for each in signs.differences if each.kind != "behavior" or SLOW_RANKS.match(each.name)]

    def all(self) -> Iterator[Cause]:
        for rule in (self._another_mpi, self._preloaded, self._variables, self._libraries, self._channels, self._slow, self._around):
            yield from rule()

    def _take(self, wanted: Callable[[Fact], object]) -> list[Fact]:
        """Remove the `wanted` differences from `left` and return them."""
        taken = [each for each in self.left if wanted(each)]
        self.left = [each for each in self.left if each not in taken]
        return taken

    def _kind(self, kind: str) -> list[Fact]:
        return self._take(lambda each: each.kind == kind)

    def _variable(self, name: str) -> list[Fact]:
        return self._take(lambda each: each.variable == name)

    def _another_mpi(self) -> Iterator[Cause]:
        if not any(each.name == "mpi library version" for each in self.left):
            return
        first, second = self.signs.mpi
        asked = {each.variable for each in self.left if each.kind == "environment" and each.variable}
        why = [f"typical ratio B / A {name}: {ratio:.2f}" for name, ratio in self.signs.moved.items() if name != "copying alone"]
        title = f"another MPI: {first} → {second}" if first != second else f"another build of {first}"
        yield Cause(title, 100, why, self._take(lambda each: _of_mpi(each, asked)))

    def _preloaded(self) -> Iterator[Cause]:
        variable = self._variable(PRELOAD)
        words = [word for each in variable for value in (each.first, each.second) for word in re.split(r"[: |]+", value or "")]
        named = {library_name(word) for word in words}
        libraries = self._take(lambda each: variable and each.kind == "libraries" and each.name in named)
        if variable and not libraries:
            yield Cause(f"{PRELOAD} differs, but names no library that was loaded", 20, [], variable)
        yield from (self._loaded(each, 88, "preloaded", variable) for each in libraries)

    def _loaded(self, fact: Fact, weight: float, how: str, with_it: Sequence[Fact] = ()) -> Cause:
        name = fact.path.rpartition("/")[2]
        side = ("B" if fact.second else "A") if fact.one_sided else None
        more, why = self._weighed(fact, name)
        if not why and self.signs.profiles and not self.signs.sleepers:
            more, why = -30.0, [f"{name} takes none of the sampled time"]
        title = f"library {name} {how} " + (f"in {side} alone" if side else "from another place")
        return Cause(title, weight + more, why, [fact, *with_it], side, f"{how} {name}")

    def _weighed(self, fact: Fact, name: str) -> tuple[float, list[str]]:
        share = self.signs.library(library_name(fact.path))
        if not share or max(share.first, share.second) <= 0.005:
            return 0.0, []
        return 12 * min(1.0, abs(share.change) / 0.1), [f"{name} takes {percent(share.second)} of the sampled time in B, {percent(share.first)} in A"]

    def _variables(self) -> Iterator[Cause]:
        """Yield a cause per environment variable, highest weight first, with its effects on MPI."""
        names = dict.fromkeys(each.variable for each in self.left if each.variable and each.variable != LIBRARY_PATH)
        weighed = sorted(((self._weight(name), name) for name in names), key=lambda each: -each[0])
        yield from (self._set_variable(name, weight) for weight, name in weighed)

    def _weight(self, name: str) -> int:
        weight, mpi = next((weight, mpi) for pattern, weight, mpi in VARIABLES if re.match(pattern, name))
        return weight if any(each.startswith(mpi) for each in self.signs.mpi) else NOT_READ

    def _set_variable(self, name: str, weight: int) -> Cause:
        signs, facts, seen = self.signs, self._variable(name), list[Fact]()
        steers = weight > 70
        if steers:
            own = (OWN + name, OWN + name.removeprefix("OMPI_MCA_").replace("_", " "))
            seen = self._take(lambda each: each.name in own) + self._kind("channels")
        why = [each.text for each in seen]
        if steers:
            seen += self._take(lambda each: _brought_along(each) or _come_or_gone(each))
        if weight == NOT_READ:
            why.append("the measured MPIs do not read it")
        if steers and signs.mpi_moved:
            why.append("communication through MPI changed, copying alone did not")
        words = {word for benchmark, row in signs.changed for word in (row.variant.removeprefix("mpi_"), benchmark)}
        related = next((word for word in sorted(words, key=len, reverse=True) if len(word) > 3 and word.upper() in name), None)
        why += [f"its name contains {related}, which changed"] if related else []
        weight += 4 * bool(seen) + 3 * (steers and signs.mpi_moved) + 4 * bool(related)
        return Cause(f"control variable {name}: {facts[0].move}", weight, why, [*facts, *seen])

    def _libraries(self) -> list[Cause]:
        paths, close = self._variable(LIBRARY_PATH), (*MESSAGING, "libc")
        found = [self._loaded(each, 58 if each.one_sided else 72 if each.part in close else 60, "loaded") for each in self._kind("libraries")]
        for each in self._kind("files"):
            name = each.path.rpartition("/")[2]
            more, why = self._weighed(each, name)
            weight = 74 if each.part in close else 55 if each.part == "Parhelion" else 45
            found.append(Cause(f"library {name} has other content at the same path", weight + more, why, [each]))
        if paths and found:
            best = max(found, key=lambda cause: cause.weight)
            best.facts.extend(paths)
            best.why.append(f"{LIBRARY_PATH} differs: {paths[0].move}")
        elif paths:
            found.append(Cause(f"control variable {LIBRARY_PATH}, which led to no other library", 10, [], paths))
        return found

    def _channels(self) -> Iterator[Cause]:
        """Yield changed settings and channels of MPI that no recorded variable explains."""
        parts = self._take(_come_or_gone)
        for each in self._take(lambda each: each.name.startswith(OWN)):
            name = each.name.removeprefix(OWN).replace(" ", "_")
            why = ["set by no recorded variable: by a file, or by default"]
            yield Cause(f"control variable {name}, as the MPI reports it: {each.move}", 76, why, [each])
        if parts:
            yield Cause(f"the MPI loaded other components: {len(parts)} of its control variables exist in one image only", 60, [], parts)
        yield from (Cause(f"the MPI chose another channel: {each.text}", 74, [], [each]) for each in self._kind("channels"))

    def _slow(self) -> Iterator[Cause]:
        """Yield a cause per sleeping or slow rank, and one for waiting for cores."""
        slow = self._kind("behavior")
        first, second = ({rank for value in values for rank in _ranks(value)} for values in ([each.first for each in slow], [each.second for each in slow]))
        for rank in dict.fromkeys([*(each.rank for _, each in self.signs.sleepers), *sorted(first ^ second)]):
            yield self._slow_rank(rank, [each for each in slow if rank in (*_ranks(each.first), *_ranks(each.second))])
        waited = self.signs.waiting
        if waited and abs(waited.change) >= MUCH_WAITING:
            told = f"the ranks waited for a core for {percent(waited.first)} of their time in A, {percent(waited.second)} in B, while they were profiled"
            yield Cause(f"other work ran on the cores in {'B' if waited.change > 0 else 'A'}", 50, [told, "repeat when the machine is quiet"])

    def _slow_rank(self, rank: int | None, facts: list[Fact]) -> Cause:
        changed = {row.variant for _, row in self.signs.changed}
        whose = [match[1] for each in facts if (match := SLOW_RANKS.match(each.name)) and match[1] in changed]
        why = [f"its own time stands out from the other ranks' in {', '.join(whose[:6])}{' and others' if len(whose) > 6 else ''}"] if whose else []
        sleeps = [(benchmark, each) for benchmark, each in self.signs.sleepers if each.rank == rank]
        if not sleeps:
            side = "B" if any(each.second for each in facts) else "A"
            return Cause(f"rank {rank} takes longer than the others in {side}", 20 + 6 * min(len(whose), 8), why, facts)
        most = sleeps[0][1].change
        side = "B" if most > 0 else "A"
        why = [_asleep(*each) for each in sleeps] + why
        return Cause(f"rank {rank} sleeps in {side}", 62 + 36 * min(1.0, abs(most) / 0.25), why, facts, side, sleeps=True)

    def _around(self) -> Iterator[Cause]:
        for pattern, weight, title in MACHINE:
            facts = self._take(lambda each, pattern=pattern: re.match(pattern, each.name))  # type: ignore[misc]
            moved = self.signs.machine_moved and weight >= 15
            why = ["copying alone changed as well, without any MPI"] if moved else []
            if facts:
                yield Cause(f"{title}: {facts[0].text}", weight + 30 * moved, why, facts)
        yield from (Cause(each.text, 5, [], [each]) for each in self.left)


def _of_mpi(each: Fact, asked: Collection[str]) -> bool:
    """Whether a difference follows from another MPI, not from the command line's variables (`asked`)."""
    if each.variable:
        return each.variable in ("PARHELION_BUILD", "PARHELION_FLAVOR") or each.variable not in asked
    if each.kind == "libraries":
        return each.one_sided or each.part in (*MESSAGING, "Parhelion")
    return each.kind == "channels" or each.name == "build" or each.name.startswith(("mpi ", OWN, "bound by"))


def _brought_along(each: Fact) -> bool:
    """Whether only one side loads this messaging library."""
    return each.kind == "libraries" and each.one_sided and (each.part in MESSAGING or bool(MESSAGING_LIBRARY.match(each.name)))


def _come_or_gone(each: Fact) -> bool:
    """Whether an MPI control variable exists on one side only."""
    return each.name.startswith(OWN) and each.one_sided


def _ranks(value: str | None) -> list[int]:
    return [int(word) for word in re.findall(r"\d+", value or "")]


def _asleep(benchmark: str, share: ShareChange) -> str:
    where = f"asleep in {share.key.symbol}" if share.key.symbol not in ("", "unknown") else "asleep or stopped"
    return f"profile of {benchmark}: {where} for {percent(share.first)} of its time in A, {percent(share.second)} in B"


def compare_images(first: MeasuredImage, second: MeasuredImage, rules: Rules = IMAGE_RULES) -> ImageComparison:
    """Compare B (`second`) with A (`first`); all timings form one family of tests. Raises `ImageError` without a common timing."""
    images = (first, second)
    matched: dict[str, Comparison] = {}
    missing = [f"{side}: {part}: {why}" for side, image in zip("AB", images) for part, why in image.image.parts.items() if why != RAN]
    for benchmark in first.records:
        if benchmark in second.records:
            try:
                matched[benchmark] = match(*(RecordSet(each.image.image, [each.records[benchmark]]) for each in images))
            except RecordError as error:
                missing.append(str(error))
    if not matched:
        why = "; ".join(missing or ["nothing was measured"])
        raise ImageError(f"{first.image.image} and {second.image.image} have no figure in common: {why}")
    profiles = {name: compare_profiles(each, second.profiles[name]) for name, each in first.profiles.items() if name in second.profiles}
    comparisons = compare_all(_of_images(list(matched.values())), rules)
    return ImageComparison(images, dict(zip(matched, comparisons)), profiles, missing)


def _of_images(found: Sequence[Comparison]) -> list[Comparison]:
    rows = [row for comparison in found for row in comparison.rows]
    rest = iter(of_images([row.sides for row in rows], [row.difference for row in rows]))
    return [replace(each, rows=[replace(row, difference=next(rest)) for row in each.rows]) for each in found]


def image_document(found: ImageComparison) -> dict[str, Any]:
    """Return the JSON document: causes (most probable first), timings, differences; ratios are B / A."""
    told = ("image", "created", "ranks", "build", "labels", "providers")
    return {
        "schema": SCHEMA,
        **{side: {name: getattr(each.image, name) for name in told} for side, each in zip("AB", found.images)},
        "figures": {str(verdict): found.count(verdict) for verdict in Verdict},
        "causes": [{name: getattr(cause, name) for name in ("title", "likelihood", "weight", "why", "facts")} for cause in found.causes],
        "changed": [{"benchmark": benchmark, "params": row.case.params, "variant": row.variant, "ratio": row.difference.ratio,
                     "ci95": row.difference.interval, "verdict": row.verdict} for benchmark, row in found.changed],
        "typical_ratios": found.moved,
        "published": found.published,
        "differences": found.differences,
        "benchmarks": {name: comparison_document(each) for name, each in found.benchmarks.items()},
        "profiles": {name: profile_document(each) for name, each in found.profiles.items()},
        "missing": found.missing,
    }

"""What differs around the figures of two images, as a pool that causes are taken from; and signs in figures and profiles."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from .changes import Change, changes, differing
from .comparison import Comparison, Row
from .profile_difference import Difference as ShareDifference, ProfileComparison
from .profile_shares import ASLEEP, WAITING
from .verdict import Verdict
from ..record.image import MeasuredImage

VARIABLE = ("variables ", "control variable ")  # of the command line's environment, and of the ranks'
OWN = "MPI's own "


@dataclass(frozen=True)
class Difference:
    """One fact that differs. `kind`: environment, ranks, libraries, files, channels or behavior."""

    kind: str
    change: Change

    @property
    def name(self) -> str:
        return self.change.name

    @property
    def sides(self) -> tuple[str | None, str | None]:
        return self.change.first, self.change.second

    @property
    def variable(self) -> str | None:
        """The environment variable that this tells of."""
        return next((self.name.removeprefix(each) for each in VARIABLE if self.name.startswith(each)), None)

    @property
    def one_sided(self) -> bool:
        """Only one of the images has it."""
        return None in self.sides


class Pool:
    """Differences that no cause has been found for yet."""

    def __init__(self, found: Iterable[Difference]) -> None:
        self.left = list(found)

    def take(self, wanted: Callable[[Difference], bool]) -> list[Difference]:
        """Those that `wanted` tells, which then belong to one cause and to no other."""
        taken = [each for each in self.left if wanted(each)]
        self.left = [each for each in self.left if each not in taken]
        return taken


def differences(first: MeasuredImage, second: MeasuredImage) -> list[Difference]:
    """Everything that was recorded and differs."""
    found = changes(first.all, second.all)
    kinds = {"environment": found.environment, "ranks": [*found.ranks, *_binding(first, second)], "libraries": found.libraries,
             "files": _contents(first, second), "channels": _channels(first, second),
             "behavior": found.behavior}  # fmt: skip
    return [Difference(kind, each) for kind, listed in kinds.items() for each in listed]


def _channels(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    """Channels that differ, where both told any: an MPI that is silent, or a run that was cut short, has not changed them."""
    told = [side.image.providers for side in (first, second)]
    return differing(*told) if all(told) else []


def _contents(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    """Files of one name and another content."""
    shared = [path for path in first.image.files if path in second.image.files]
    told = [{path: f"{side.image.files[path].bytes} bytes, SHA-256 {side.image.files[path].sha256}…" for path in shared} for side in (first, second)]
    return differing(*told)


def _binding(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    return differing(*({"binding of ranks": bindings} if (bindings := _bindings(side)) else {} for side in (first, second)))


def _bindings(side: MeasuredImage) -> str:
    """The hardware threads of every rank, in each of the ways in which starts had them."""
    bindings = [launch.binding for record in side.records.values() for launch in record.launches if launch.binding]
    return " | ".join(sorted({", ".join(f"{rank}: {each}" for rank, each in enumerate(binding)) for binding in bindings}))


def base_name(path: str | None) -> str:
    """A file's name without its folder and what follows `.so`."""
    return PurePath(path or "").name.partition(".so")[0]


THROUGH_MPI = re.compile(r"^(mpi_|hand_|pairwise|spread_out|bruck)")
PAST_MPI = re.compile(r"^(shared|staged_shared|xpmem|node_aware)$")
COPYING = re.compile(r"^floor_")
GROUPS = {"through MPI": THROUGH_MPI, "past MPI": PAST_MPI, "copying alone": COPYING}
CHANGED = (Verdict.SLOWER, Verdict.FASTER)
CLEAR_SLEEP = 0.05  # of a rank's time more than the other image's same rank, apart from the other ranks
SLOW_RANKS = re.compile(r"^slow ranks of (\S+) on \d+ ranks$")
MUCH = math.log(1.2)


@dataclass(frozen=True)
class Sleeper:
    """A rank that sleeps more in one image than in the other, and otherwise than the other ranks do."""

    rank: int
    benchmark: str
    where: str
    first: float
    second: float

    @property
    def change(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class Evidence:
    """`moved`: per group of contenders, the typical ratio B / A over its figures."""

    images: tuple[MeasuredImage, MeasuredImage]
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
        found = [each for profile in self.profiles.values() for each in profile.parts if each.key.part == WAITING]
        return max(found, key=lambda each: abs(each.change), default=None)

    def library(self, name: str) -> tuple[float, float] | None:
        """The share of the time of a library in both images, kernel and libc charged to it, in the profile where it changed most."""
        found = [each for profile in self.profiles.values() for each in profile.charged if each.key.library and each.key.name == name]
        most = max(found, key=lambda each: abs(each.change), default=None)
        return (most.first, most.second) if most else None


def evidence(images: tuple[MeasuredImage, MeasuredImage], compared: Mapping[str, Comparison], profiles: Mapping[str, ProfileComparison]) -> Evidence:
    """Read all signs."""
    rows = [(benchmark, row) for benchmark, found in compared.items() for row in found.rows]
    changed = [(benchmark, row) for benchmark, row in rows if row.verdict in CHANGED and row.difference.ratio]
    changed.sort(key=lambda each: -abs(math.log(each[1].difference.ratio or 1.0)))
    return Evidence(images, changed, _moved(row for benchmark, row in rows if benchmark != "setup"), profiles, _sleepers(profiles))


def _moved(rows: Iterable[Row]) -> dict[str, float]:
    logs: dict[str, list[float]] = {}
    for row in rows:
        first, second = row.medians
        name = next((name for name, pattern in GROUPS.items() if pattern.match(row.contender)), None)
        if name and first and second:
            logs.setdefault(name, []).append(math.log(second / first))
    return {name: float(np.exp(np.median(values))) for name, values in logs.items()}


def _sleepers(profiles: Mapping[str, ProfileComparison]) -> list[Sleeper]:
    """Ranks that sleep apart from the others, the sleepiest first."""
    found = [Sleeper(each.rank, benchmark, each.key.symbol or "unknown", each.first, each.second)
             for benchmark, profile in profiles.items() for each in profile.ranks
             if each.rank is not None and each.key.part == ASLEEP and abs(each.change) > CLEAR_SLEEP]  # fmt: skip
    return sorted(found, key=lambda each: -abs(each.change))

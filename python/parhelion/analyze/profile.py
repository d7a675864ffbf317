"""Shares of ranks' time by function, file and software part; comparison of two profiles.

Waiting for a core appears only by part, as a share of wall-clock time; no other share includes it.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from msgspec import to_builtins

from ..record.model import flatten
from ..record.profile import INTERVAL_S, KERNEL, UNKNOWN, Frame, Profile, RankProfile
from .comparison import Change, differing, gathered, library_name

ASLEEP = "asleep"
WAITING = "waiting for a core"
OWN = "own code"
SERVANTS = ("kernel", "libc", "unknown")  # parts charged to their caller

RULES = (
    ("libfabric", r"libfabric|lib\w+-fi\.so|libpsm|libopx"),
    ("UCX", r"libuc[pstm]\b|libuc[pstm][._]|libucc|libucs_"),
    ("MPI", r"libmpi|libopen-|libmca|mca_|libpmi|libprrte|libevent|libhwloc"),
    ("RDMA", r"libibverbs|librdmacm|libmlx|libefa"),
    ("Parhelion", r"libparhelion|phl-bench|_core\."),
    ("libc", r"libc[.-]|libm[.-]|libpthread|ld-|librt[.-]|\[v(dso|syscall)\]|libmvec"),
    ("Python", r"python|libpython"),
)


def part_of(library: str, program: Sequence[str]) -> str:
    """Return a file's software part: `own code` for the program, `other libraries` if unknown."""
    return _part_of(library, tuple(program))


@lru_cache(maxsize=10_000)
def _part_of(library: str, program: tuple[str, ...]) -> str:
    if library in (KERNEL, UNKNOWN, ASLEEP, WAITING):
        return library.strip("[]")
    name = PurePath(library).name
    # A mapped file that is no shared library is the program or one that it started.
    own = ".so" not in name or any(name == PurePath(word).name for word in program)
    return next((part for part, pattern in RULES if re.match(pattern, name)), OWN if own else "other libraries")


class Key(NamedTuple):
    """Key of a share: a part, library or function."""

    part: str
    library: str = ""
    symbol: str = ""

    @property
    def name(self) -> str:
        return self.symbol or (PurePath(self.library).name if self.library else self.part)

    def told(self) -> dict[str, str]:
        return {name: value for name, value in self._asdict().items() if value}


Shares = dict[Key, float]
Naming = Callable[[Frame], Key]


def naming(profile: Profile, words: int) -> Naming:
    """Return a key function: by part (`words` 1), file (2) or function (3)."""
    return lambda frame: Key(*(part_of(frame.library, profile.program), frame.library, frame.symbol)[:words])


def own_shares(profile: Profile, names: Naming, ranks: Sequence[RankProfile] | None = None) -> Shares:
    """Shares by innermost frame; sleep by kernel function."""
    return _shares(profile, names, lambda frames: frames[-1:], ranks)


def charged_shares(profile: Profile, names: Naming) -> Shares:
    """Shares by innermost frame, with kernel and libc charged to their callers."""
    served = [part_of(frame.library, profile.program) not in SERVANTS for frame in profile.frames]
    return _shares(profile, names, lambda frames: [next((number for number in reversed(frames) if served[number]), frames[-1])])


def _shares(profile: Profile, names: Naming, counted: Callable[[list[int]], Iterable[int]], ranks: Sequence[RankProfile] | None = None) -> Shares:
    """Return shares, largest first; `counted` selects the frames that a stack's time counts for."""
    ranks = profile.ranks if ranks is None else ranks
    keys = [names(frame) for frame in profile.frames]
    spent = [(keys[number], stack.seconds) for rank in ranks for stack in rank.stacks if stack.frames for number in counted(stack.frames)]
    spent += [(names(Frame(ASLEEP, where)), seconds) for rank in ranks for where, seconds in rank.asleep.items()]
    whole = sum(rank.whole_s for rank in ranks) or 1.0
    found: Shares = {}
    for key, seconds in spent:
        found[key] = found.get(key, 0.0) + seconds / whole
    waiting = names(Frame(WAITING, WAITING))
    if not waiting.library and (share := waiting_share(ranks)):
        found[waiting] = share
    return dict(sorted(found.items(), key=lambda item: -item[1]))


TABLES: dict[str, tuple[str, Callable[[Profile], Shares]]] = {
    "parts": ("by part", lambda profile: own_shares(profile, naming(profile, 1))),
    "libraries": ("by library", lambda profile: own_shares(profile, naming(profile, 2))),
    "charged": ("by library, time in kernel and libc charged to their callers", lambda profile: charged_shares(profile, naming(profile, 2))),
    "symbols": ("by function", lambda profile: own_shares(profile, naming(profile, 3))),
    "totals": ("by function, including callees", lambda profile: _shares(profile, naming(profile, 3), set)),
}


def tables(profile: Profile) -> dict[str, Shares]:
    return {name: shares(profile) for name, (_, shares) in TABLES.items()}


def waiting_share(ranks: Sequence[RankProfile]) -> float:
    """Share of wall-clock time in which ranks waited for a busy core; no other share includes it."""
    return sum(rank.waiting_s for rank in ranks) / (sum(rank.wall_s for rank in ranks) or 1.0)


LEAST = 0.01  # share of time; smaller differences are not shown
ERRORS = 3.0
ALONE = 0.05  # least deviation of a rank's change from the other ranks' changes


@dataclass(frozen=True)
class ShareChange:
    """Shares of time in A and B; `error` is the sampling standard error of their difference."""

    key: Key
    first: float
    second: float
    error: float
    rank: int | None = None

    @property
    def change(self) -> float:
        return self.second - self.first

    @property
    def shown(self) -> bool:
        """Whether the change exceeds sampling error and `LEAST`."""
        return abs(self.change) > max(LEAST, ERRORS * self.error)


@dataclass(frozen=True)
class ProfileComparison:
    """B against A; libraries match by name, `changes` lists different paths."""

    profiles: tuple[Profile, Profile]
    parts: list[ShareChange]
    libraries: list[ShareChange]
    charged: list[ShareChange]
    symbols: list[ShareChange]
    totals: list[ShareChange]
    ranks: list[ShareChange]
    changes: list[Change]


def compare_profiles(first: Profile, second: Profile) -> ProfileComparison:
    """Compare all tables; largest changes of share first."""
    pair = (first, second)
    ranks = [each.ranks for each in pair]
    found = {name: _changes([_by_name(shares(each)) for each in pair], ranks) for name, (_, shares) in TABLES.items()}
    return ProfileComparison(pair, **found, ranks=_lone_ranks(pair), changes=differing(_facts(first), _facts(second)))


def comparison_document(found: ProfileComparison) -> dict[str, Any]:
    """Return differences of shares (B − A) by part, library and function, and of ranks that changed differently from the others."""
    first, second = found.profiles
    tables = {name: list(map(_told, getattr(found, name))) for name in (*TABLES, "ranks")}
    return {"schema": "parhelion.profile-compare/1", "A": first.profile, "B": second.profile, **tables, "changes": found.changes}


def _told(each: ShareChange) -> dict[str, Any]:
    rank = {} if each.rank is None else {"rank": each.rank}
    return rank | each.key.told() | {"A": each.first, "B": each.second, "change": each.change, "error": each.error, "shown": each.shown}


def _changes(shares: Sequence[Shares], ranks: Sequence[Sequence[RankProfile]], rank: int | None = None) -> list[ShareChange]:
    pairs = {key: [each.get(key, 0.0) for each in shares] for key in (*shares[0], *shares[1])}
    looks = [_looks(each) for each in ranks]
    found = [ShareChange(key, pair[0], pair[1], math.hypot(*map(_error, pair, looks)), rank) for key, pair in pairs.items()]
    return sorted(found, key=lambda each: -abs(each.change))


def _looks(ranks: Iterable[RankProfile]) -> float:
    """Number of independent observations: samples of cores and of sleeping ranks."""
    return max(1.0, sum(rank.samples + sum(rank.asleep.values()) / INTERVAL_S for rank in ranks))


def _error(share: float, count: float) -> float:
    """Standard error of a binomial share, positive also for shares 0 and 1."""
    share = min(share, 1.0)
    return math.sqrt((share * (1 - share) + 1 / (count + 1)) / count)


def _by_name(shares: Shares) -> Shares:
    """Merge shares of a library's paths and versions."""
    found: Shares = {}
    for key, share in shares.items():
        name = key._replace(library=library_name(key.library))
        found[name] = found.get(name, 0.0) + share
    return found


def _lone_ranks(pair: tuple[Profile, Profile]) -> list[ShareChange]:
    """Return changes of single ranks unlike the others', by function slept in and by part."""
    first, second = (each.ranks for each in pair)
    if len(first) != len(second) or len(first) < 2:
        return []
    per_rank = [_changes([own_shares(profile, _by_sleep(profile), [rank]) for profile, rank in zip(pair, both)], [[rank] for rank in both], both[0].rank)
                for both in zip(first, second)]
    changes = [{each.key: each.change for each in found} for found in per_rank]
    # The smallest change of each key over the ranks is common to all of them.
    least = {key: min((found.get(key, 0.0) for found in changes), key=abs) for found in changes for key in found}
    lone = [each for found in per_rank for each in found if each.shown and abs(each.change - least[each.key]) > ALONE]
    return sorted(lone, key=lambda each: -abs(each.change))


def _by_sleep(profile: Profile) -> Naming:
    part = naming(profile, 1)
    return lambda frame: Key(ASLEEP, "", frame.symbol) if frame.library == ASLEEP else part(frame)


def _facts(profile: Profile) -> dict[str, str]:
    around = {"program": " ".join(profile.program), "build": profile.build, "ranks": len(profile.ranks), "tool": to_builtins(profile.tool)}
    paths = {path for rank in profile.ranks for path in rank.libraries if ".so" in path}
    return gathered([*flatten(around), *flatten(profile.environment), *((f"library {library_name(path)}", path) for path in paths)])


DOCUMENTED = dict(zip(TABLES, ("parts", "libraries", "libraries_charged", "symbols", "functions_with_callees")))


def profile_document(profile: Profile, folder: Path) -> dict[str, Any]:
    return {
        "schema": "parhelion.profile-shares/1", "profile": profile.profile, "folder": str(folder), "labels": profile.labels,
        "program": profile.program, "tool": to_builtins(profile.tool), "notes": profile.notes,
        **{DOCUMENTED[name]: _objects(shares) for name, shares in tables(profile).items()},
        "ranks": [{"rank": rank.rank, "host": rank.host, "wall_s": rank.wall_s, "cpu_s": rank.cpu_s, "waiting_s": rank.waiting_s,
                   "asleep_s": rank.asleep, "samples": rank.samples, "libraries": rank.libraries,
                   "parts": _objects(own_shares(profile, naming(profile, 1), [rank]))} for rank in profile.ranks],
    }


def _objects(shares: Shares) -> list[dict[str, Any]]:
    return [key.told() | {"share": share} for key, share in shares.items()]


def stacks(profiles: Sequence[Profile]) -> dict[str, Any]:
    """Return a Speedscope document: stacks of each rank with seconds, including sleep."""
    numbers: dict[Frame, int] = {}
    ranks = [_stacks_of(profile, rank, numbers) for profile in profiles for rank in profile.ranks]
    return {"$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "parhelion",
            "name": " and ".join(each.name for each in profiles),
            "shared": {"frames": [{"name": frame.symbol, "file": frame.library} for frame in numbers]}, "profiles": ranks}


def _stacks_of(profile: Profile, rank: RankProfile, numbers: dict[Frame, int]) -> dict[str, Any]:
    told = [([profile.frames[number] for number in stack.frames], stack.seconds) for stack in rank.stacks]
    told += [([Frame(ASLEEP, f"asleep in {where}")], spent) for where, spent in rank.asleep.items()]
    samples = [[numbers.setdefault(frame, len(numbers)) for frame in path] for path, _ in told]
    weights = [spent for _, spent in told]
    return {"type": "sampled", "name": f"{profile.name}, rank {rank.rank}", "unit": "seconds", "startValue": 0, "endValue": sum(weights),
            "samples": samples, "weights": weights}

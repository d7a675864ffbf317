"""Two profiles side by side: what takes more or less of the time, ranked, and what changed around them."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from msgspec import to_builtins

from .changes import Change, differing, gathered
from ..record.facts import flatten
from ..record.profile import Profile, RankProfile
from .profile_shares import Key, Naming, Shares, TABLES, by_part, library_name, looks, own_shares

SCHEMA = "parhelion.profile-compare/1"
LEAST = 0.01  # of the time: smaller differences are of no interest
ERRORS = 3.0
ALONE = 0.05  # a rank that differs from the others by more than that is named


@dataclass(frozen=True)
class Difference:
    """Shares of the time in A and B; `error` is the standard error of their difference as far as sampling goes."""

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
        """It is larger than what sampling explains, and not negligible."""
        return abs(self.change) > max(LEAST, ERRORS * self.error)


@dataclass(frozen=True)
class ProfileComparison:
    """B against A. Libraries are told apart by their names, not by their places: those are under `changes`."""

    profiles: tuple[Profile, Profile]
    parts: list[Difference]
    libraries: list[Difference]
    charged: list[Difference]
    symbols: list[Difference]
    totals: list[Difference]
    ranks: list[Difference]
    changes: list[Change]


def compare_profiles(first: Profile, second: Profile) -> ProfileComparison:
    """Every table ranked by how much the share of the time changed."""
    pair = (first, second)
    return ProfileComparison(
        profiles=pair,
        **{name: _ranked(pair, shares) for name, (_, shares) in TABLES.items()},
        ranks=_lone_ranks(pair),
        changes=differing(_facts(first), _facts(second)),
    )


def comparison_document(found: ProfileComparison) -> dict[str, Any]:
    """Differences of shares (B less A) by part, library and function, and for ranks that changed otherwise than the others."""
    first, second = found.profiles
    tables = {name: list(map(_told, getattr(found, name))) for name in (*TABLES, "ranks")}
    return {"schema": SCHEMA, "A": first.profile, "B": second.profile, **tables, "changes": [asdict(each) for each in found.changes]}


def _told(each: Difference) -> dict[str, Any]:
    rank = {} if each.rank is None else {"rank": each.rank}
    figures = {"A": each.first, "B": each.second, "change": each.change, "error": each.error, "shown": each.shown}
    return rank | each.key.told() | figures


def _ranked(pair: tuple[Profile, Profile], shares: Callable[[Profile], Shares]) -> list[Difference]:
    found = _differences(*(_by_name(shares(profile)) for profile in pair), *(looks(profile.ranks) for profile in pair))
    return sorted(found, key=lambda each: -abs(each.change))


def _differences(first: Shares, second: Shares, looks_first: float, looks_second: float, rank: int | None = None) -> list[Difference]:
    pairs = {key: (first.get(key, 0.0), second.get(key, 0.0)) for key in (*first, *second)}
    return [Difference(key, a, b, math.hypot(_error(a, looks_first), _error(b, looks_second)), rank) for key, (a, b) in pairs.items()]


def _error(share: float, count: float) -> float:
    """Of a binomial share, as if one look more had been taken, so that shares of 0 and 1 have an error, too."""
    share = min(share, 1.0)
    return math.sqrt((share * (1 - share) + 1 / (count + 1)) / count)


def _by_name(shares: Shares) -> Shares:
    """A library keeps its share when it is loaded from elsewhere or has another number."""
    found: Shares = {}
    for key, share in shares.items():
        name = key._replace(library=library_name(key.library) if ".so" in key.library else PurePath(key.library).name)
        found[name] = found.get(name, 0.0) + share
    return found


def _lone_ranks(pair: tuple[Profile, Profile]) -> list[Difference]:
    """Ranks that changed otherwise than most of them, by what they slept in and by part."""
    first, second = pair
    if len(first.ranks) != len(second.ranks) or len(first.ranks) < 2:
        return []
    per_rank = [_rank_differences(pair, a, b) for a, b in zip(first.ranks, second.ranks, strict=True)]
    least = _least_changes(per_rank)
    lone = [each for found in per_rank for each in found if each.shown and abs(each.change - least.get(each.key, 0.0)) > ALONE]
    return sorted(lone, key=lambda each: -abs(each.change))


def _rank_differences(pair: tuple[Profile, Profile], first: RankProfile, second: RankProfile) -> list[Difference]:
    shares = [own_shares(profile, _by_sleep(profile), [rank]) for profile, rank in zip(pair, (first, second), strict=True)]
    return _differences(*shares, looks([first]), looks([second]), rank=first.rank)


def _by_sleep(profile: Profile) -> Naming:
    part = by_part(profile)
    return lambda frame: Key("asleep", "", frame.symbol) if part(frame).part == "asleep" else part(frame)


def _least_changes(per_rank: list[list[Difference]]) -> dict[Key, float]:
    """Of each key, the change that is nearest to none over the ranks: what happened to all of them alike."""
    keys = {each.key for found in per_rank for each in found}
    changes = [{each.key: each.change for each in found} for found in per_rank]
    return {key: min((found.get(key, 0.0) for found in changes), key=abs) for key in keys}


def _facts(profile: Profile) -> dict[str, str]:
    around = {"program": " ".join(profile.program), "flavor": profile.flavor, "ranks": len(profile.ranks), "tool": to_builtins(profile.tool)}
    facts = [*flatten(around), *flatten(profile.environment)]
    paths = {path for rank in profile.ranks for path in rank.libraries}
    return gathered([*facts, *((f"library {library_name(path)}", path) for path in paths if ".so" in path)])

"""The documents of `parhelion profile … --json`; shares are of the wall-clock time of all ranks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from .compare.difference import Difference, ProfileComparison
from .model import Profile
from .shares import TABLES, Key, Shares, by_part, own_shares, tables

SCHEMA = "parhelion.profile-shares/1"
COMPARISON = "parhelion.profile-compare/1"
NAMES = dict(zip(TABLES, ("parts", "libraries", "libraries_charged", "symbols", "functions_with_callees"), strict=True))


def profile_document(profile: Profile, folder: Path) -> dict[str, Any]:
    """Shares by part, library and function, and what each rank did."""
    return {
        "schema": SCHEMA, "profile": profile.profile, "folder": str(folder), "labels": profile.labels,
        "program": profile.program, "tool": to_builtins(profile.tool), "notes": profile.notes,
        **{NAMES[name]: _objects(shares) for name, shares in tables(profile).items()},
        "ranks": [{"rank": rank.rank, "host": rank.host, "wall_s": rank.wall_s, "cpu_s": rank.cpu_s,
                   "waiting_s": rank.waiting_s, "asleep_s": rank.asleep,
                   "samples": rank.samples, "libraries": rank.libraries,
                   "parts": _objects(own_shares(profile, by_part(profile), [rank]))} for rank in profile.ranks],
    }  # fmt: skip


def comparison_document(found: ProfileComparison) -> dict[str, Any]:
    """Differences of shares (B less A) by part, library and function, and for ranks that changed otherwise than the others."""
    first, second = found.profiles
    return {
        "schema": COMPARISON,
        "A": first.profile,
        "B": second.profile,
        **{name: list(map(_difference, getattr(found, name))) for name in (*TABLES, "ranks")},
        "changes": [asdict(each) for each in found.changes],
    }


def _objects(shares: Shares) -> list[dict[str, Any]]:
    return [_key(key) | {"share": share} for key, share in shares.items()]


def _key(key: Key) -> dict[str, str]:
    return {name: value for name, value in key._asdict().items() if value}


def _difference(each: Difference) -> dict[str, Any]:
    rank = {} if each.rank is None else {"rank": each.rank}
    return (
        rank
        | _key(each.key)
        | {"A": each.first, "B": each.second, "change": each.change, "error": each.error, "shown": each.shown}
    )

"""The document of `parhelion profile run` and `show` with `--json`; shares are of the time of all ranks."""

from pathlib import Path
from typing import Any

from msgspec import to_builtins

from ..model import Profile
from ..shares import TABLES, Shares, by_part, own_shares, tables

SCHEMA = "parhelion.profile-shares/1"
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


def _objects(shares: Shares) -> list[dict[str, Any]]:
    return [key.told() | {"share": share} for key, share in shares.items()]

"""A profile for people, stacks for speedscope (https://www.speedscope.app/file-format-schema.json), and the document of `parhelion profile run` and `show` with `--json`; shares are of the time of all ranks."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import msgspec

from . import Block, Section, Table, Text, note
from ..analyze.words import percent
from ..errors import writing
from ..record.profile import Frame, Profile, RankProfile
from ..analyze.profile import ASLEEP, Shares, TABLES, by_part, own_shares, tables, waiting_share

LEAST = 0.001
MUCH = 0.1


def blocks(profile: Profile, most: int = 15) -> list[Block]:
    """Parts first, then libraries and functions, then ranks."""
    made: list[Block] = [Text(f"{profile.profile}: {len(profile.ranks)} ranks of {' '.join(profile.program)}, {profile.samples} samples")]
    made += map(note, profile.notes)
    if (waited := waiting_share(profile.ranks)) > MUCH:
        made.append(note(f"for {percent(waited, 0)} of their time the ranks waited for cores that others had; shares leave that out"))
    if profile.samples:
        found = tables(profile)
        made += [Section("share of the time, by part", [_table(found["parts"], most)]),
                 Section("by library; charged: with what the kernel and libc did for it", [_libraries(found["libraries"], found["charged"], most)]),
                 *(Section(TABLES[name][0], [_table(found[name], most)]) for name in ("symbols", "totals"))]  # fmt: skip
    head = ("rank", "host", "time, s", "waiting for a core", "on one", "asleep", "asleep in")
    return [*made, Section("ranks", [Table(head, list(map(_rank, profile.ranks)), 2)])]


def _table(shares: Shares, most: int) -> Table:
    rows = [(key.name, PurePath(key.library).name if key.symbol else key.part if key.library else "", percent(share))
            for key, share in list(shares.items())[:most] if share >= LEAST]  # fmt: skip
    return Table(("what", "in", "share"), rows, 2)


def _libraries(own: Shares, charged: Shares, most: int) -> Table:
    both = {key: (own.get(key, 0.0), charged.get(key, 0.0)) for key in {*own, *charged}}
    rows = [(key.library or key.part, key.part, *map(percent, shares)) for key, shares in sorted(both.items(), key=lambda each: -max(each[1]))[:most]
            if max(shares) >= LEAST]  # fmt: skip
    return Table(("library", "part", "share", "charged"), rows, 2)


def _rank(rank: RankProfile) -> tuple[str, ...]:
    whole = rank.whole_s or 1.0
    asleep = sorted(rank.asleep.items(), key=lambda item: -item[1])
    where = ", ".join(f"{name} {percent(spent / whole, 0)}" for name, spent in asleep if spent >= LEAST * whole)
    shares = waiting_share([rank]), rank.cpu_s / whole, sum(rank.asleep.values()) / whole
    return str(rank.rank), rank.host, f"{rank.wall_s:.2f}", *map(percent, shares), where


SCHEMA = "parhelion.profile-shares/1"
NAMES = dict(zip(TABLES, ("parts", "libraries", "libraries_charged", "symbols", "functions_with_callees"), strict=True))


def profile_document(profile: Profile, folder: Path) -> dict[str, Any]:
    """Shares by part, library and function, and what each rank did."""
    return {
        "schema": SCHEMA, "profile": profile.profile, "folder": str(folder), "labels": profile.labels,
        "program": profile.program, "tool": msgspec.to_builtins(profile.tool), "notes": profile.notes,
        **{NAMES[name]: _objects(shares) for name, shares in tables(profile).items()},
        "ranks": [{"rank": rank.rank, "host": rank.host, "wall_s": rank.wall_s, "cpu_s": rank.cpu_s,
                   "waiting_s": rank.waiting_s, "asleep_s": rank.asleep,
                   "samples": rank.samples, "libraries": rank.libraries,
                   "parts": _objects(own_shares(profile, by_part(profile), [rank]))} for rank in profile.ranks],
    }  # fmt: skip


def _objects(shares: Shares) -> list[dict[str, Any]]:
    return [key.told() | {"share": share} for key, share in shares.items()]


SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def write_stacks(profiles: Sequence[Profile], file: Path) -> list[Path]:
    """All ranks of the profiles in one file, each to be chosen by its name."""
    with writing(file):
        file.write_bytes(msgspec.json.encode(stacks(profiles)))
    return [file.resolve()]


def stacks(profiles: Sequence[Profile]) -> dict[str, Any]:
    """Frames of all profiles, and stacks of each rank with the seconds that it spent there, sleep included."""
    numbers: dict[Frame, int] = {}
    ranks = [_stacks_of(profile, rank, numbers) for profile in profiles for rank in profile.ranks]
    frames = [{"name": frame.symbol, "file": frame.library} for frame in numbers]
    return {"$schema": SPEEDSCOPE, "exporter": "parhelion", "name": " and ".join(each.name for each in profiles),
            "shared": {"frames": frames}, "profiles": ranks}  # fmt: skip


def _stacks_of(profile: Profile, rank: RankProfile, numbers: dict[Frame, int]) -> dict[str, Any]:
    told = [([profile.frames[number] for number in stack.frames], stack.seconds) for stack in rank.stacks]
    told += [([Frame(ASLEEP, f"asleep in {where}")], spent) for where, spent in rank.asleep.items()]
    samples = [[numbers.setdefault(frame, len(numbers)) for frame in path] for path, _ in told]
    weights = [spent for _, spent in told]
    return {"type": "sampled", "name": f"{profile.name}, rank {rank.rank}", "unit": "seconds", "startValue": 0, "endValue": sum(weights),
            "samples": samples, "weights": weights}  # fmt: skip

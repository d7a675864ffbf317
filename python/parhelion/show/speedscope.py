"""Stacks in the format of speedscope (https://www.speedscope.app/file-format-schema.json), which draws flame graphs of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..launch.disk import writing
from ..record.profile import Frame, Profile, RankProfile
from ..analyze.profile_shares import ASLEEP

FORMAT = "https://www.speedscope.app/file-format-schema.json"


def write(profiles: Sequence[Profile], file: Path) -> None:
    """All ranks of the profiles in one file, each to be chosen by its name."""
    with writing(file):
        file.write_bytes(msgspec.json.encode(document(profiles)))


def document(profiles: Sequence[Profile]) -> dict[str, Any]:
    """Frames of all profiles, and stacks of each rank with the seconds that it spent there, sleep included."""
    numbers: dict[Frame, int] = {}
    ranks = [_rank(profile, rank, numbers) for profile in profiles for rank in profile.ranks]
    frames = [{"name": frame.symbol, "file": frame.library} for frame in numbers]
    return {"$schema": FORMAT, "exporter": "parhelion", "name": " and ".join(each.name for each in profiles),
            "shared": {"frames": frames}, "profiles": ranks}  # fmt: skip


def _rank(profile: Profile, rank: RankProfile, numbers: dict[Frame, int]) -> dict[str, Any]:
    told = [([profile.frames[number] for number in stack.frames], stack.seconds) for stack in rank.stacks]
    told += [([Frame(ASLEEP, f"asleep in {where}")], spent) for where, spent in rank.asleep.items()]
    samples = [[numbers.setdefault(frame, len(numbers)) for frame in path] for path, _ in told]
    weights = [spent for _, spent in told]
    return {"type": "sampled", "name": f"{profile.name}, rank {rank.rank}", "unit": "seconds", "startValue": 0, "endValue": sum(weights),
            "samples": samples, "weights": weights}  # fmt: skip

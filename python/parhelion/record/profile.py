"""Profile format: one JSON document, `profiles/<time>-<program>-<id>/profile.json`.

A rank's wall-clock time is the sum of CPU time (sampled stacks), sleep (by kernel function) and waiting for a busy core.
"""

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field, json

from ..base.files import write_whole
from ..errors import InputError
from .folder import empty_folder, new_id, read_document

SCHEMA = "parhelion.profile/1"
INTERVAL_S = 0.01  # sampling interval of sleeping ranks
KERNEL, UNKNOWN = "[kernel]", "[unknown]"  # placeholders for a missing file

Seconds = Annotated[float, Meta(ge=0, description="seconds")]
Count = Annotated[int, Meta(ge=0)]


class Frame(Struct, frozen=True, array_like=True):
    """A function and its file: a shared library, the program, or `[kernel]`."""

    library: str
    symbol: str


class Stack(Struct):
    """Frame indices from the outermost caller to the sampled function, with the time sampled there."""

    frames: list[Count]
    seconds: Seconds
    samples: Count = 0


class RankProfile(Struct):
    """One rank; `asleep` maps kernel functions to seconds of the main thread, `libraries` lists mapped files."""

    rank: Count
    host: str = ""
    wall_s: Seconds = 0.0
    waiting_s: Seconds = 0.0
    asleep: dict[str, Seconds] = field(default_factory=dict)
    stacks: list[Stack] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)

    @property
    def cpu_s(self) -> float:
        """CPU time of all threads."""
        return sum(stack.seconds for stack in self.stacks)

    @property
    def whole_s(self) -> float:
        """Denominator of shares: CPU time and sleep, without waiting for a core, which other programs cause."""
        return max(self.wall_s - self.waiting_s, self.cpu_s + sum(self.asleep.values()))

    @property
    def samples(self) -> int:
        return sum(stack.samples for stack in self.stacks)


class How(Struct):
    """Sampler settings: `frequency` in samples per second of CPU time; `command` selects processes by name."""

    name: str
    version: str = ""
    event: str = ""
    frequency: Count = 0
    call_graph: str = ""
    command: str = ""


class Profile(Struct, dict=True):
    """A complete profile; `program` is a rank's command line, `tool` the sampler."""

    schema: str
    profile: str
    created: str
    argv: list[str]
    program: list[str]
    tool: How
    frames: list[Frame]
    ranks: list[RankProfile]
    labels: dict[str, str] = field(default_factory=dict)
    build: str = ""
    environment: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The label `image`, or the id."""
        return self.labels.get("image") or self.profile

    @cached_property
    def seconds(self) -> float:
        """Total time of all ranks, without waiting for a core."""
        return sum(rank.whole_s for rank in self.ranks)

    @cached_property
    def samples(self) -> int:
        return sum(rank.samples for rank in self.ranks)


class ProfileError(InputError):
    """A profile cannot be taken or read."""


FILE_NAME = "profile.json"
DEFAULT_STORE = Path("profiles")
LARGEST = 2**30  # bytes of a profile


def create_folder(program: str, path: Path | None) -> tuple[str, Path]:
    profile_id = new_id(re.sub(r"[^\w.-]", "_", Path(program).name)[:40])
    return profile_id, empty_folder(path or DEFAULT_STORE / profile_id, ProfileError)


def write_profile(profile: Profile, folder: Path) -> Path:
    write_whole(folder / FILE_NAME, json.encode(profile))
    return folder / FILE_NAME


def read_profile(path: Path) -> Profile:
    """Read a profile from a folder or a file; raises `ProfileError`."""
    file = path / FILE_NAME if path.is_dir() else path
    profile = read_document(file, Profile, SCHEMA, LARGEST, ProfileError, "profile")
    known = len(profile.frames)
    if any(number >= known for rank in profile.ranks for stack in rank.stacks for number in stack.frames):
        raise ProfileError(f"{file} is damaged: a stack refers to a missing frame; the file was not changed")
    return profile

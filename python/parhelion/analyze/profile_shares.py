"""Where the time of ranks went: shares of their time on cores and asleep, by function, by file, and by the part of the software that a file
belongs to (libfabric, UCX, MPI, libc, the kernel, one's own code, …).

What they waited for a core is told by part alone, as a share of the wall-clock time, and counts in no other share.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from ..record.profile import Frame, KERNEL, Profile, RankProfile, UNKNOWN
from ..measure.on_rank import INTERVAL_S

ASLEEP = "asleep"
WAITING = "waiting for a core"
OWN = "own code"

RULES = (
    ("libfabric", r"libfabric|lib\w+-fi\.so|libpsm|libopx"),
    ("UCX", r"libuc[pstm]\b|libuc[pstm][._]|libucc|libucs_"),
    ("MPI", r"libmpi|libopen-|libmca|mca_|libpmi|libprrte|libevent|libhwloc"),
    ("RDMA", r"libibverbs|librdmacm|libmlx|libefa"),
    ("Parhelion", r"libparhelion|phl-bench|_core\."),
    ("libc", r"libc[.-]|libm[.-]|libpthread|ld-|librt[.-]|\[v(dso|syscall)\]|libmvec"),
    ("Python", r"python|libpython"),
)
_rules = [(part, re.compile(rf"^({pattern})")) for part, pattern in RULES]


def library_name(library: str) -> str:
    """Its name up to `.so`: wherever it is loaded from, whatever its number."""
    return PurePath(library).name.partition(".so")[0]


def part_of(library: str, program: Sequence[str]) -> str:
    """The part that a file belongs to; the program itself is own code, whatever is not known is `other libraries`."""
    return _part_of(library, tuple(program))


@lru_cache(maxsize=10_000)
def _part_of(library: str, program: tuple[str, ...]) -> str:
    if library in (KERNEL, UNKNOWN, ASLEEP, WAITING):
        return library.strip("[]")
    name = PurePath(library).name
    part = next((part for part, pattern in _rules if pattern.match(name)), None)
    if part:
        return part
    return OWN if _is_program(name, program) else "other libraries"


def _is_program(name: str, program: Sequence[str]) -> bool:
    # Whatever is mapped and is no shared library is a program: the one that was named, or one that it started.
    return ".so" not in name or any(name == PurePath(word).name for word in program)


class Key(NamedTuple):
    """What is counted: a part, a library or a function."""

    part: str
    library: str = ""
    symbol: str = ""

    @property
    def name(self) -> str:
        """What a row is called."""
        return self.symbol or (PurePath(self.library).name if self.library else self.part)

    def told(self) -> dict[str, str]:
        """What is known of it, for documents."""
        return {name: value for name, value in self._asdict().items() if value}


Shares = dict[Key, float]
Naming = Callable[[Frame], Key]
SERVANTS = ("kernel", "libc", "unknown")  # what they do is done for their caller


def by_part(profile: Profile) -> Naming:
    """Counts by part of the software."""
    return lambda frame: Key(part_of(frame.library, profile.program))


def by_library(profile: Profile) -> Naming:
    """Counts by file."""
    return lambda frame: Key(part_of(frame.library, profile.program), frame.library)


def by_symbol(profile: Profile) -> Naming:
    """Counts by function."""
    return lambda frame: Key(part_of(frame.library, profile.program), frame.library, frame.symbol)


def own_shares(profile: Profile, naming: Naming, ranks: Sequence[RankProfile] | None = None) -> Shares:
    """Shares by where the ranks were themselves, and by what they slept in."""
    ranks = profile.ranks if ranks is None else ranks
    keys = [naming(frame) for frame in profile.frames]
    innermost = ((keys[stack.frames[-1]], stack.seconds) for rank in ranks for stack in rank.stacks if stack.frames)
    return _shares(innermost, naming, ranks)


def charged_shares(profile: Profile, naming: Naming) -> Shares:
    """The same, with the time of the kernel and of libc charged to whatever called them."""
    keys = [naming(frame) for frame in profile.frames]
    served = [part_of(frame.library, profile.program) not in SERVANTS for frame in profile.frames]
    caller = (
        (keys[_caller(served, stack.frames)], stack.seconds) for rank in profile.ranks for stack in rank.stacks if stack.frames
    )
    return _shares(caller, naming, profile.ranks)


def total_shares(profile: Profile) -> Shares:
    """Shares of functions together with everything that they called, each counted once in a stack."""
    naming = by_symbol(profile)
    keys = [naming(frame) for frame in profile.frames]
    found: list[tuple[Key, float]] = []
    for rank in profile.ranks:
        for stack in rank.stacks:
            found += [(keys[number], stack.seconds) for number in set(stack.frames)]
    return _shares(found, naming, profile.ranks)


TABLES: dict[str, tuple[str, Callable[[Profile], Shares]]] = {
    "parts": ("by part", lambda profile: own_shares(profile, by_part(profile))),
    "libraries": ("by library", lambda profile: own_shares(profile, by_library(profile))),
    "charged": ("by library, what kernel and libc did charged to their callers", lambda profile: charged_shares(profile, by_library(profile))),
    "symbols": ("by function", lambda profile: own_shares(profile, by_symbol(profile))),
    "totals": ("by function, with all that it called", total_shares),
}


def tables(profile: Profile) -> dict[str, Shares]:
    """Every table of a profile by its name."""
    return {name: shares(profile) for name, (_, shares) in TABLES.items()}


def seconds(ranks: Iterable[RankProfile]) -> float:
    """What shares are shares of; never 0."""
    return sum(rank.whole_s for rank in ranks) or 1.0


def waiting_share(ranks: Sequence[RankProfile]) -> float:
    """What share of their wall-clock time ranks wanted to run while others had the core; it is no part of other shares."""
    return sum(rank.waiting_s for rank in ranks) / (sum(rank.wall_s for rank in ranks) or 1.0)


def looks(ranks: Iterable[RankProfile]) -> float:
    """How many independent looks stand behind shares: samples of cores, and looks at sleeping ranks."""
    return max(1.0, sum(rank.samples + sum(rank.asleep.values()) / INTERVAL_S for rank in ranks))


def _caller(served: Sequence[bool], frames: Sequence[int]) -> int:
    return next((number for number in reversed(frames) if served[number]), frames[-1])


def _shares(counted: Iterable[tuple[Key, float]], naming: Naming, ranks: Sequence[RankProfile]) -> Shares:
    asleep = [(naming(Frame(ASLEEP, where)), spent) for rank in ranks for where, spent in rank.asleep.items()]
    found: Shares = {}
    for key, spent in (*counted, *asleep):
        found[key] = found.get(key, 0.0) + spent
    whole = seconds(ranks)
    waiting = naming(Frame(WAITING, WAITING))
    if not waiting.library and (share := waiting_share(ranks)):
        found[waiting] = share * whole
    return dict(sorted(((key, spent / whole) for key, spent in found.items()), key=lambda item: -item[1]))

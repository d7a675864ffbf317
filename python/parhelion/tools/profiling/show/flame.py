"""Flame graphs: stacks as nested boxes, as wide as their share of the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ..model import KERNEL, UNKNOWN, Frame, Profile
from ..parts import ASLEEP, library_name, part_of
from ..shares import seconds

LEAST = 0.002  # of the width: narrower boxes cannot be seen
DEEPEST = 48
ENTRIES = ("entry_SYSCALL", "do_syscall_64", "x64_sys_call", "el0", "invoke_syscall", "do_el0_svc")  # every call passes them


@dataclass
class Node:
    """One box: shares of the time of each profile, with everything above it."""

    frame: Frame
    shares: list[float]
    children: dict[tuple[str, str], Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Box:
    """A box to be drawn; `left` and `width` are shares of the whole, `change` B's share less A's."""

    left: float
    width: float
    depth: int
    symbol: str
    library: str
    part: str
    shares: tuple[float, ...]

    @property
    def change(self) -> float:
        return self.shares[-1] - self.shares[0]


def flame_graphs(profiles: Sequence[Profile]) -> list[list[Box]]:
    """One graph per profile, with the same order of boxes in all."""
    root = Node(Frame("", "all"), [0.0] * len(profiles))
    for number, profile in enumerate(profiles):
        _grow(root, number, profile)
    return [list(_boxes(root, number, 0.0, 0, profile)) for number, profile in enumerate(profiles)]


def folded(profile: Profile) -> str:
    """One line per stack, `outer;…;inner count`, as other tools for flame graphs read it; counts are milliseconds."""
    lines = [(_path(profile, stack.frames), stack.seconds) for rank in profile.ranks for stack in rank.stacks]
    lines += [([Frame(ASLEEP, where)], spent) for rank in profile.ranks for where, spent in rank.asleep.items()]
    return "".join(f"{';'.join(frame.symbol.replace(';', ':') for frame in path)} {spent * 1e3:.0f}\n" for path, spent in lines)


def _grow(root: Node, number: int, profile: Profile) -> None:
    whole = seconds(profile.ranks)
    for rank in profile.ranks:
        for stack in rank.stacks:
            _add(root, number, _path(profile, stack.frames), stack.seconds / whole)
        for where, spent in rank.asleep.items():
            _add(root, number, [Frame(ASLEEP, f"asleep in {where}")], spent / whole)


def _path(profile: Profile, numbers: Sequence[int]) -> list[Frame]:
    frames = [profile.frames[number] for number in numbers]
    told = [frame for frame in frames if frame.library != KERNEL or not frame.symbol.startswith(ENTRIES)] or frames[-1:]
    # Functions of a stripped library have no names: one box says so as well as eight.
    return [frame for before, frame in zip([None, *told], told, strict=False) if frame.symbol != UNKNOWN or frame != before]


def _add(root: Node, number: int, path: Sequence[Frame], share: float) -> None:
    node = root
    node.shares[number] += share
    for frame in path[:DEEPEST]:
        # By the name of the library: the same function of a library loaded from elsewhere is the same box.
        key = (library_name(frame.library), frame.symbol)
        node = node.children.setdefault(key, Node(frame, [0.0] * len(root.shares)))
        node.shares[number] += share


def _boxes(node: Node, number: int, left: float, depth: int, profile: Profile) -> Iterator[Box]:
    width = node.shares[number]
    if width < LEAST:
        return
    part = part_of(node.frame.library, profile.program) if depth else "all"
    name = node.frame.symbol if node.frame.symbol != UNKNOWN else f"({PurePath(node.frame.library).name})"
    yield Box(left, width, depth, name, node.frame.library, part, tuple(node.shares))
    for child in sorted(node.children.values(), key=lambda each: -max(each.shares)):
        yield from _boxes(child, number, left, depth + 1, profile)
        left += child.shares[number]

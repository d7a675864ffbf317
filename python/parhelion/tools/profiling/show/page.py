"""The page of one profile, or of two side by side: tables and flame graphs, stacks as boxes as wide as their share of the time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec import to_builtins

from ...records.facts import flatten
from ...style import pages
from ...style.words import percent
from ..compare.difference import Difference, ProfileComparison, compare_profiles
from ..model import KERNEL, UNKNOWN, Frame, Profile, ProfileError
from ..shares import ASLEEP, TABLES, WAITING, Key, by_part, library_name, own_shares, part_of, seconds, tables

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


MOST = 25
FULL_COLOR = 0.25  # a change of a quarter of the time takes the full color
HUES = {"MPI": 24, "UCX": 265, "libfabric": 300, "libc": 205, "kernel": 220, "own code": 95, "Parhelion": 140, "asleep": 190,
        "Python": 60, "RDMA": 330, "other libraries": 45}  # fmt: skip


def write(profiles: Sequence[Profile], file: Path) -> None:
    """Write the page of one or two profiles; raises `ProfileError` when that cannot be done."""
    pages.write(file, render(profiles), ProfileError)


def render(profiles: Sequence[Profile]) -> str:
    """The page; whatever a profile holds is escaped."""
    return _rendered("profile.html.j2", profiles)


class Parts(NamedTuple):
    """What another page needs to show the same."""

    style: Markup
    graphs: Markup
    tables: Markup
    script: Markup


def parts(profiles: Sequence[Profile]) -> Parts:
    """The page in parts; whatever a profile holds is escaped."""
    folder = Path(__file__).parent / "templates"
    style, script = (Markup((folder / f"profile.{kind}").read_text(encoding="utf-8")) for kind in ("css", "js"))
    drawn, listed = (Markup(_rendered(f"profile_{part}.html.j2", profiles)) for part in ("graphs", "tables"))
    return Parts(style, drawn, listed, script)


def _rendered(template: str, profiles: Sequence[Profile]) -> str:
    comparison = compare_profiles(*profiles) if len(profiles) == 2 else None
    return pages.render(
        "parhelion.tools.profiling.show", template, {"points": points, "place": place},
        profiles=profiles, comparison=comparison, graphs=_graphs(profiles), hues=HUES, tables=_tables(profiles, comparison),
        changes=comparison.changes if comparison else [], facts=_facts(profiles), rank_parts=[_rank_parts(profile) for profile in profiles],
        headline=_headline(comparison),
    )  # fmt: skip


def points(change: float) -> str:
    """A difference of shares."""
    return f"{change * 100:+.1f}".replace("-", "−")


def place(key: Key) -> str:
    """Where that is."""
    return key.library if key.symbol or (key.library and "/" in key.library) else key.part


def _graphs(profiles: Sequence[Profile]) -> list[dict[str, Any]]:
    graphs = flame_graphs(profiles)
    names = "AB" if len(profiles) == 2 else [""]
    return [{"name": name, "profile": profile, "height": max((box.depth for box in boxes), default=0) + 1,
             "boxes": [_drawn(box, len(profiles) == 2) for box in boxes]}
            for name, profile, boxes in zip(names, profiles, graphs, strict=True)]  # fmt: skip


def _drawn(box: Box, differential: bool) -> dict[str, Any]:
    told = f"{box.symbol} ({box.library or 'all'}): " + " → ".join(map(percent, box.shares))
    return {"left": f"{box.left * 100:.3f}", "width": f"{box.width * 100:.3f}", "depth": box.depth, "symbol": box.symbol, "title": told,
            "style": _by_change(box) if differential else _by_part(box)}  # fmt: skip


def _by_part(box: Box) -> str:
    if box.part == "all":
        return "--s:0%"
    # Neighboring functions of a library differ a little, so that their ends can be seen.
    turn = zlib.crc32(box.symbol.encode(errors="replace")) % 17 - 8
    return f"--h:{HUES.get(box.part, 45) + turn};--s:62%"


def _by_change(box: Box) -> str:
    strength = min(1.0, abs(box.change) / FULL_COLOR)
    return f"--h:{18 if box.change > 0 else 215};--s:{strength * 85:.0f}%"


def _tables(profiles: Sequence[Profile], comparison: ProfileComparison | None) -> list[tuple[str, list[Any]]]:
    titles = {name: title.capitalize() for name, (title, _) in TABLES.items()}
    if comparison is None:
        return [(titles[name], list(shares.items())[:MOST]) for name, shares in tables(profiles[0]).items()]
    rows = {name: [each for each in getattr(comparison, name) if max(each.first, each.second) >= 0.001] for name in titles}
    return [(title, rows[name][:MOST]) for name, title in titles.items()]


def _headline(comparison: ProfileComparison | None) -> list[Difference]:
    """What a reader should know first: ranks that changed apart from the others, then the parts that changed."""
    if comparison is None:
        return []
    return [*comparison.ranks[:4], *[each for each in comparison.parts if each.shown][:4]]


def _facts(profiles: Sequence[Profile]) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(profile.name, [("program", " ".join(profile.program)), *flatten({"tool": to_builtins(profile.tool)}), *flatten(profile.environment)])
            for profile in profiles]  # fmt: skip


def _rank_parts(profile: Profile) -> list[tuple[Any, list[tuple[str, float, int]]]]:
    """Per rank its parts as name, share and hue, in one order for all ranks."""
    order = [key.part for key in own_shares(profile, by_part(profile))]
    rows = []
    for rank in profile.ranks:
        shares = own_shares(profile, by_part(profile), [rank])
        rows.append((rank, [(part, shares.get(Key(part), 0.0), HUES.get(part, 45)) for part in order if part != WAITING]))
    return rows

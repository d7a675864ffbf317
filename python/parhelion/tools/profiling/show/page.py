"""The page of one profile, or of two side by side: flame graphs and tables, all in one file."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec import to_builtins

from ...records.facts import flatten
from ...style import pages
from ...style.words import percent
from ..compare.difference import Difference, ProfileComparison, compare_profiles
from ..model import Profile, ProfileError
from ..parts import WAITING
from ..shares import TABLES, Key, by_part, own_shares, tables
from .flame import Box, flame_graphs

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

"""Draws the pictures of the documentation: docs/halo.svg, docs/points.svg, and rooms and arrows of the C++ code, as its includes are now.

    python scripts/draw_pictures.py            # writes them into docs/

Which file belongs to which room is known to the test that holds the order of rooms.
"""

import re
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import test_includes  # noqa: E402

Edges = dict[str, set[str]]
BOX_HEIGHT, LETTER, GAP, ROW = 30, 8.2, 18, 62
STYLE = """<style>
  .paper { fill: #fbfbf8 } text { font: 14px system-ui, sans-serif; fill: #1c2430; text-anchor: middle }
  .box { fill: #e6ecf5; stroke: #4a6591 } .arrow { fill: none; stroke: #7a8698; stroke-width: 1.3; marker-end: url(#tip) }
  .ghost { fill: #fdf0d8; stroke: #b98a2d } .shared { fill: #f6c9b0; stroke: #9a3d3d } .end { fill: #cfe5d6; stroke: #2b6a4d }
  .spare { fill: none; stroke: #9aa3b2; stroke-dasharray: 3 3 } .left { text-anchor: start }
  .forward { fill: none; stroke: #2b6a4d; stroke-width: 2; marker-end: url(#tip) } .reverse { fill: none; stroke: #9a3d3d; stroke-width: 2; marker-end: url(#tip) }
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8Z" fill="#5a6678"/></marker></defs>"""


def stages() -> Edges:
    """Rooms of the C++ library, and of what stands on it in other folders."""
    found, _ = test_includes.includes(ROOT)
    pairs = {(test_includes.room_of(path, ROOT), test_includes.room_of(target, ROOT)) for path, targets in found.items() for target in targets}
    for room, folder in (("fortran", "fortran"), ("bindings", "python/bindings")):
        for path in sorted((ROOT / folder).glob("*.[ch]pp")):
            named = re.findall(r'#include [<"]parhelion/(\w+(?:\.h)?)', path.read_text())
            pairs |= {(room, "c" if name == "phl.h" else name) for name in named}
    known = set(test_includes.MAY_INCLUDE) | {"fortran", "bindings"}
    return edges((a, b) for a, b in pairs if a in known and b in known)


def edges(pairs: Iterable[tuple[str, str]]) -> Edges:
    """Without what a detour says as well."""
    whole: Edges = {}
    for a, b in pairs:
        whole.setdefault(b, set())
        whole.setdefault(a, set()).update({b} - {a})

    def beyond(room: str) -> set[str]:
        return {far for near in whole[room] for far in {near} | beyond(near)}

    return {room: {near for near in targets if not any(near in beyond(other) for other in targets - {near})} for room, targets in whole.items()}


def layers(graph: Edges) -> list[list[str]]:
    """Each room below those that use it; within a row near those that it uses."""

    def depth(room: str) -> int:
        return 1 + max((depth(near) for near in graph[room]), default=-1)

    rows: dict[int, list[str]] = {}
    for room in sorted(graph):
        rows.setdefault(depth(room), []).append(room)
    ordered = [rows[level] for level in sorted(rows)]
    for k in range(1, len(ordered)):
        place = {room: (i + 0.5) / len(row) for row in ordered[:k] for i, room in enumerate(row)}
        ordered[k].sort(key=lambda room: (sum(place[near] for near in graph[room]) / max(1, len(graph[room])), room))
    return ordered[::-1]


def drawn(graph: Edges, title: str) -> str:
    """An arrow leads from a room to one that it uses."""
    rows = layers(graph)
    width = {room: max(46, LETTER * len(room) + 16) for room in graph}
    whole = max(sum(width[room] for room in row) + GAP * (len(row) + 1) for row in rows)
    place: dict[str, tuple[float, float]] = {}
    for k, row in enumerate(rows):
        space = (whole - sum(width[room] for room in row)) / (len(row) + 1)
        x = 0.0
        for room in row:
            x += space
            place[room] = (x + width[room] / 2, 20 + k * ROW)
            x += width[room]
    lines = []
    for room in sorted(graph):
        for near in sorted(graph[room]):
            (x1, y1), (x2, y2) = place[room], place[near]
            start, end = y1 + BOX_HEIGHT, y2
            bend = min(30.0, (end - start) / 2)
            lines.append(f'<path class="arrow" d="M{x1:.0f} {start:.0f}C{x1:.0f} {start + bend:.0f} {x2:.0f} {end - bend:.0f} {x2:.0f} {end - 2:.0f}"/>')
    for room, (x, y) in sorted(place.items()):
        lines.append(f'<rect class="box" x="{x - width[room] / 2:.0f}" y="{y:.0f}" width="{width[room]:.0f}" height="{BOX_HEIGHT}" rx="6"/>'
                     f'<text x="{x:.0f}" y="{y + 20:.0f}">{escape(room)}</text>')  # fmt: skip
    return svg(whole, 20 + len(rows) * ROW - ROW + BOX_HEIGHT + 20, title, lines)


def halo() -> str:
    """Two ranks, a border between them, and what each direction moves."""
    lines = []
    for left, name, ghost_first in ((10, "rank 0", False), (270, "rank 1", True)):
        owned, ghosts = (left + 70 if ghost_first else left), (left if ghost_first else left + 170)
        lines += [f'<text x="{left + 120}" y="24">{name}</text>',
                  f'<rect class="box" x="{owned}" y="34" width="170" height="140"/>', f'<text x="{owned + 85}" y="54">owned cells</text>',
                  f'<rect class="ghost" x="{ghosts}" y="34" width="70" height="140"/>', f'<text x="{ghosts + 35}" y="54">ghosts</text>']  # fmt: skip
    for y, kind, first, last in ((78, "forward", 150, 310), (98, "forward", 370, 215), (134, "reverse", 210, 370), (154, "reverse", 305, 150)):
        lines.append(f'<path class="{kind}" d="M{first} {y}H{last}"/>')
    lines += ['<path class="forward" d="M10 198h34"/><text class="left" x="54" y="203">forward: every ghost receives its owner\'s value</text>',
              '<path class="reverse" d="M10 224h34"/><text class="left" x="54" y="229">reverse: owners add up what ghosts hold</text>']  # fmt: skip
    return svg(520, 242, "Two ranks with owned cells and ghosts", lines)


def point_kind(rank: int, point: int) -> str:
    """What point `point` is to rank `rank` of three with four cells each, depth 1, and ends that ranks own."""
    first, last = 4 * rank, 4 * rank + 4
    if (rank, point) in ((0, -1), (2, 13)):
        return "end"
    if first <= point < last or (rank, point) == (2, 12):
        return "box"
    if point == last:
        return "shared"
    inside = 0 <= point <= 12
    return "ghost" if inside and point in (first - 1, last + 1) else "spare"


def points() -> str:
    """A field on points: what each rank's array holds, and what of it is exchanged."""
    lines = []
    for rank in range(3):
        y = 40 + 44 * rank
        lines.append(f'<text class="left" x="10" y="{y + 20}">rank {rank}</text>')
        for point in range(4 * rank - 2, 4 * rank + 7):
            x = 140 + 32 * point
            lines.append(f'<rect class="{point_kind(rank, point)}" x="{x}" y="{y}" width="28" height="28" rx="3"/>'
                         f'<text x="{x + 14}" y="{y + 19}">{point}</text>')  # fmt: skip
    lines.append('<text x="325" y="24">12 cells in three blocks of 4, a field with stagger 1: points 0 to 12; array halo 2, depth 1</text>')
    legend = [("box", "owned"), ("shared", "held by the array, owned by the next rank: gets the owner's value"),
              ("ghost", "filled by an exchange: depth 1"), ("end", "beyond an end: owned with boundary=\"owned\", left alone otherwise"),
              ("spare", "in the array's halo, not exchanged")]  # fmt: skip
    for number, (kind, text) in enumerate(legend):
        y = 182 + 26 * number
        lines.append(f'<rect class="{kind}" x="76" y="{y}" width="20" height="20" rx="3"/><text class="left" x="106" y="{y + 15}">{escape(text)}</text>')
    return svg(650, 320, "A staggered field on three ranks", lines)


def svg(width: float, height: float, title: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<title>{title}</title>\n{STYLE}\n'
            f'<rect class="paper" width="100%" height="100%" rx="8"/>\n{body}\n</svg>\n')  # fmt: skip


def pictures() -> dict[str, str]:
    """Name in docs/ and text of each."""
    return {
        "halo.svg": halo(),
        "points.svg": points(),
        "rooms-cpp.svg": drawn(stages(), "Rooms of the C++ library: an arrow leads to a room that is included"),
    }


if __name__ == "__main__":
    for name, text in pictures().items():
        (ROOT / "docs" / name).write_text(text)

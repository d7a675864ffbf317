"""How an array with a halo shows itself in a notebook: its cells, owned and ghosts, drawn to scale, in light and dark."""

from html import escape
from typing import Any

LONGEST = 220.0  # pixels of the longer side
LEAST = 4.0  # pixels of a layer of ghosts, so that it is seen beside thousands of cells
MOST_LINES = 24  # cells per dimension that are drawn one by one
OWNED, GHOST = "#d98324", "#5b8db8"  # both stand out on white and on black


def html(array: Any, place: Any) -> str:
    """A line that says what the array is, and a drawing of its first two dimensions."""
    owned = array.owned.shape[: len(place.shape)]
    halo = "" if place.halo is None else ", halo " + ", ".join(str(low) if low == high else f"{low}+{high}" for low, high in place.halo)
    said = f"{array.dtype} {tuple(array.shape)}: owned {' × '.join(map(str, owned))}{halo}"
    if place.ghosts is not None:
        said += f", {array.ghosts.shape[0]} ghosts"
    behind = f", seen along the other {len(place.shape) - 2}" if len(place.shape) > 2 else ""
    key = "".join(f'<span style="color:{color}">■</span> {name} ' for name, color in (("owned", OWNED), ("ghosts", GHOST)))
    return f"<div><div><code>{escape(said)}</code></div>{_drawing(place)}<div><small>{key}{behind}</small></div></div>"


def _drawing(place: Any) -> str:
    """The first dimension goes down, the second to the right, as NumPy prints; a single one goes to the right."""
    sides = [_side(extent, owned) for extent, owned in zip(place.shape[:2], place.owned[:2], strict=True)]
    if len(sides) == 1:
        sides.insert(0, ([(0.0, 18.0)], (0.0, 18.0)))
    (rows, (top, bottom)), (columns, (left, right)) = sides
    whole = (columns[-1][1], rows[-1][1])
    lines = [f'M{x:.1f} 0V{whole[1]:.1f}' for x, _ in columns[1:]] + [f'M0 {y:.1f}H{whole[0]:.1f}' for y, _ in rows[1:]]
    return (f'<svg role="img" aria-label="owned cells and ghosts" width="{whole[0] + 2:.0f}" height="{whole[1] + 2:.0f}" '
            f'viewBox="-1 -1 {whole[0] + 2:.1f} {whole[1] + 2:.1f}">'
            f'<rect class="ghosts" width="{whole[0]:.1f}" height="{whole[1]:.1f}" fill="{GHOST}" fill-opacity="0.45"/>'
            f'<rect class="owned" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="{OWNED}" fill-opacity="0.8"/>'
            f'<path d="{"".join(lines)}" stroke="currentColor" stroke-opacity="0.35" fill="none"/></svg>')


def _side(extent: int, owned: slice) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Where the cells of a dimension begin and end, or where its three parts do if there are many; and where the owned ones do."""
    first, last = owned.start or 0, extent if owned.stop is None else owned.stop
    if extent <= MOST_LINES:
        size = min(18.0, LONGEST / max(extent, 1))
        return [(cell * size, (cell + 1) * size) for cell in range(extent)] or [(0.0, 1.0)], (first * size, last * size)
    size = LONGEST / extent
    below, above = (max(LEAST, count * size) if count else 0.0 for count in (first, extent - last))
    end = below + (last - first) * size
    parts = [(0.0, below), (below, end), (end, end + above)]
    return [part for part in parts if part[1] > part[0]], (below, end)

"""Drawing of an array with a halo in a notebook: owned cells and ghosts to scale, in light and dark themes."""

from html import escape
from typing import Any

LONGEST, LEAST, CELL = 220.0, 4.0, 18.0  # pixels: longest side, least width of a halo, largest cell
OWNED, GHOST = "#d98324", "#5b8db8"  # visible on white and on black


def html(array: Any, place: Any) -> str:
    """A description, and a drawing of the first two dimensions."""
    owned = array.owned.shape[: len(place.shape)]
    halo = "" if place.halo is None else ", halo " + ", ".join(str(low) if low == high else f"{low}+{high}" for low, high in place.halo)
    ghosts = "" if place.ghosts is None else f", {array.ghosts.shape[0]} ghosts"
    said = escape(f"{array.dtype} {tuple(array.shape)}: owned {' × '.join(map(str, owned))}{halo}{ghosts}")
    behind = f", seen along the other {len(place.shape) - 2}" if len(place.shape) > 2 else ""
    (top, bottom, height), (left, right, width) = ([_side(1, slice(0, 1))] * (len(owned) == 1) + list(map(_side, place.shape, place.owned)))[:2]
    drawing = (f'<svg role="img" aria-label="owned cells and ghosts" width="{width:.0f}" height="{height:.0f}">'
               f'<rect class="ghosts" width="{width:.1f}" height="{height:.1f}" fill="{GHOST}" fill-opacity="0.45"/>'
               f'<rect class="owned" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="{OWNED}"/></svg>')
    key = "".join(f'<span style="color:{color}">■</span> {name} ' for name, color in (("owned", OWNED), ("ghosts", GHOST)))
    return f"<div><div><code>{said}</code></div>{drawing}<div><small>{key}{behind}</small></div></div>"


def _side(extent: int, owned: slice) -> tuple[float, float, float]:
    """Begin and end of the owned cells, and the length, in pixels."""
    first, last = owned.start or 0, extent if owned.stop is None else owned.stop
    size = min(CELL, LONGEST / max(extent, 1))
    below, above = (max(LEAST, count * size) if count else 0.0 for count in (first, extent - last))
    return below, below + (last - first) * size, below + (last - first) * size + above

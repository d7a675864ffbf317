"""Matplotlib figures as SVG that lives inside a page: its colors are the page's, so light and dark both work.

Plots stay small however many samples there are, without hiding what stands out. A color is drawn as a key (a hex value that nothing else uses) and becomes a CSS variable in the text of the SVG.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...style.palette import GRID, INK, MUTED, VARIABLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 200
BINS = 150
DEFINITION = re.compile(r'\bid="([^"]+)"')
REFERENCE = re.compile(r'(href="#|url\(#)([^")]+)')

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "parhelion",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
}


@contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of `width` × `height` inches in the page's style, without any window system."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def legend(axes: Axes, **how: Any) -> None:
    """A legend above the plot; a contender's name is no formula."""
    made = axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, **how)
    for label in made.get_texts():
        label.set_parse_math(False)


def inline(drawing: Figure, prefix: str, description: str) -> str:
    """The figure as an `<svg>` element; `prefix` keeps its ids apart from those of other figures on the page."""
    from markupsafe import escape

    text = _drawn(drawing)
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(xmlns(:\w+)?|version)="[^"]*"', "", text)
    text = DEFINITION.sub(rf'id="{prefix}-\1"', text)
    text = REFERENCE.sub(rf"\1{prefix}-\2", text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    for key, name in VARIABLES.items():
        text = text.replace(key, f"var(--{name})")
    label = f'<svg role="img" aria-label="{escape(description)}" '
    return text.replace("<svg ", label, 1)


def _drawn(drawing: Figure) -> str:
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # letters are set by the page, in its own fonts
        drawing.savefig(buffer, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def spread(samples: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """At most about `most` samples that keep the shape: evenly spaced in rank, both extremes among them."""
    if len(samples) <= most:
        return np.sort(samples)
    return np.quantile(samples, np.linspace(0, 1, most), method="nearest")


def envelope(samples: np.ndarray, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, and the least, median and greatest of the samples in each of `bins` stretches of time."""
    edges = np.linspace(0, len(samples), min(bins, len(samples)) + 1).astype(int)
    parts = [samples[first:last] for first, last in zip(edges[:-1], edges[1:], strict=True)]
    figures = np.array([(part.min(), np.median(part), part.max()) for part in parts])
    return (edges[:-1] + edges[1:] - 1) / 2, figures[:, 0], figures[:, 1], figures[:, 2]

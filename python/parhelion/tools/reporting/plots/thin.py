"""Keeping a plot small however many samples there are, without hiding what stands out."""

from __future__ import annotations

import numpy as np

MOST_POINTS = 200
BINS = 150


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

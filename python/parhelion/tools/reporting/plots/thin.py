"""Keeping a plot small however many samples there are, without hiding what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
MOST_POINTS = 200
BINS = 150


def some(values: Sequence[T], most: int) -> list[T]:
    """At most `most` of the values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


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

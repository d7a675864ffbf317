"""Bootstrap of medians that respects launches: samples of one launch are not independent of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 999
SEED = 20231  # fixed: the same record always gives the same interval
LARGEST = 1000  # samples drawn per launch: drawing fewer than there are widens the interval, never narrows it


def draw_launches(count: int, rng: np.random.Generator, resamples: int = RESAMPLES) -> np.ndarray:
    """`resamples` × `count` launch numbers, drawn with replacement."""
    return rng.integers(count, size=(resamples, count))


def resampled_medians(launches: Sequence[np.ndarray], drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One median per row of `drawn`: samples drawn with replacement within each drawn launch."""
    sizes = np.array([len(samples) for samples in launches])
    table = np.zeros((len(launches), sizes.max()))
    for row, samples in zip(table, launches, strict=True):
        row[: len(samples)] = samples
    width = min(int(np.median(sizes)), LARGEST)
    positions = (rng.random((*drawn.shape, width)) * sizes[drawn][..., None]).astype(np.intp)
    return np.median(table[drawn[..., None], positions], axis=(1, 2))

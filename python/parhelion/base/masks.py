"""Land masks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Mask = ArrayLike | Callable[..., ArrayLike] | str | os.PathLike[str]


def read_mask(mask: ArrayLike | str | os.PathLike[str]) -> np.ndarray:
    """The mask as an array; a .npy file is memory-mapped."""
    if isinstance(mask, np.ma.MaskedArray):
        raise TypeError("the land mask is a masked array: pass ~numpy.ma.getmaskarray(array), or array.filled(0)")
    return np.load(mask, mmap_mode="r") if isinstance(mask, (str, os.PathLike)) else np.asarray(mask)


def wet_bytes(mask: Mask, extents: Sequence[int]) -> np.ndarray:
    """One byte per cell, nonzero where wet, with extent 1 along dimensions that the mask broadcasts over."""
    if callable(mask):
        mask = mask(*np.ogrid[tuple(map(slice, extents))])
    cells = read_mask(mask)
    if cells.ndim > len(extents) or any(own not in (1, all_) for own, all_ in zip(cells.shape[::-1], extents[::-1], strict=False)):
        raise ValueError(f"the mask has the shape {cells.shape}, but the grid has {tuple(extents)}: give each cell a value")
    if cells.dtype.kind not in "biuf":
        raise TypeError(f"the mask has values of type {cells.dtype}: pass booleans or numbers, nonzero where a cell is wet")
    wet = cells if cells.dtype == bool else cells != 0
    return wet.view(np.uint8)[(None,) * (len(extents) - cells.ndim)]

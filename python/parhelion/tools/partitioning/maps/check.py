"""The rules that both file formats share. Each raises IndexMapError with the place of the fault."""

import numpy as np

from ..errors import fault
from .maps import IndexMaps

REWRITE = "write the data set again from its mesh"


def check_ghosts(where: object, ghosts: np.ndarray, first: int, owned: int, size: int, base: int = 0) -> None:
    """Ghosts (from 0) ascend strictly, lie in 0 … size-1 and outside first … first+owned-1.

    `base` is added to ids in messages, so that they show what is in the file.
    """
    _check_range(where, ghosts, size, base)
    falls = np.flatnonzero(ghosts[1:] <= ghosts[:-1])
    if len(falls):
        at = int(falls[0]) + 1
        ids = f"id {ghosts[at] + base} follows {ghosts[at - 1] + base}"
        raise fault(where, f"ghost {at} is not in ascending order ({ids})", REWRITE)
    inside = np.flatnonzero((ghosts >= first) & (ghosts < first + owned))
    if len(inside):
        at = int(inside[0])
        block = f"{first + base} to {first + owned - 1 + base}"
        raise fault(where, f"ghost {at} is id {ghosts[at] + base}, which this rank owns itself ({block})", REWRITE)


def _check_range(where: object, ghosts: np.ndarray, size: int, base: int) -> None:
    outside = np.flatnonzero((ghosts < 0) | (ghosts >= size))
    if len(outside):
        at = int(outside[0])
        what = f"ghost {at} is id {ghosts[at] + base}, outside {base} to {size - 1 + base}"
        raise fault(where, what, "the data set lacks a rank's file or is damaged; " + REWRITE)


def check_ranks(where: object, found: int, wanted: int | None) -> None:
    """The data set is for as many ranks as are `wanted` (None: any)."""
    if wanted is not None and wanted != found:
        raise fault(where, f"is for {found} ranks, not for {wanted}", f"use {found} ranks, or partition anew")


def check_rank(where: object, rank: int, ranks: int) -> None:
    """`rank` is one of the data set's."""
    if not 0 <= rank < ranks:
        raise fault(where, f"has no rank {rank}", f"ranks are 0 to {ranks - 1}")


def check_maps(maps: IndexMaps) -> None:
    """All ranks' ghosts obey the rules: for maps that were made in memory, before they are written."""
    starts = maps.starts
    for rank, ghosts in enumerate(maps.ghosts):
        check_ghosts(f"rank {rank}", ghosts, int(starts[rank]), int(maps.owned[rank]), maps.size)

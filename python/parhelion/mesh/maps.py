"""Index maps as plain data, the rules that they keep, and files that are whole or absent."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .errors import fault


@dataclass(frozen=True)
class RankMap:
    """One rank's part: it owns `first … first+owned-1` and reads `ghosts` (ascending) from others.

    Global indices start at 0. `keys[i]` names owned index first+i in terms of the mesh file (cell
    number, point number, or sorted point numbers); None when the data set does not say.
    """

    rank: int
    ranks: int
    size: int
    first: int
    owned: int
    ghosts: np.ndarray
    keys: np.ndarray | None = None


@dataclass(frozen=True)
class IndexMaps:
    """The maps of all ranks: blocks of `owned[r]` indices in rank order, `ghosts[r]` ascending.

    `keys` (size × width, or None) names every global index in terms of the mesh file.
    """

    owned: np.ndarray
    ghosts: tuple[np.ndarray, ...]
    entities: str = "unknown"
    keys: np.ndarray | None = None

    @property
    def ranks(self) -> int:
        return len(self.owned)

    @property
    def size(self) -> int:
        return int(self.owned.sum())

    @property
    def key_width(self) -> int:
        """How many words name an index; 0 when the data set does not say."""
        return 0 if self.keys is None else self.keys.shape[1]

    @property
    def starts(self) -> np.ndarray:
        """First global index of each rank, and `size` at the end."""
        return np.concatenate([[0], np.cumsum(self.owned, dtype=np.int64)])

    def owner_of(self, indices: np.ndarray) -> np.ndarray:
        """The rank that owns each global index."""
        return np.searchsorted(self.starts, indices, side="right") - 1

    def sources(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """The ranks that own ghosts of `rank`, ascending, and how many each of them owns."""
        return np.unique(self.owner_of(self.ghosts[rank]), return_counts=True)

    def rank(self, rank: int) -> RankMap:
        """One rank's part."""
        first, end = (int(start) for start in self.starts[rank : rank + 2])
        keys = None if self.keys is None else self.keys[first:end]
        return RankMap(rank, self.ranks, self.size, first, end - first, self.ghosts[rank], keys)


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


@contextlib.contextmanager
def opened(path: Path, remedy: str) -> Iterator[tuple[BinaryIO, int]]:
    """(file, its size in bytes); IndexMapError when it is not there, no regular file, or unreadable."""
    if not path.is_file():
        what = "is not a regular file" if path.exists() else "is missing"
        raise fault(path, what, remedy)
    try:
        with path.open("rb") as file:
            yield file, os.fstat(file.fileno()).st_size
    except OSError as error:
        raise fault(path, f"cannot be read ({error.strerror})", remedy) from error


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to `path` so that a reader meets the old file, or the new one, never a piece."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.writelines(chunks)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[str]:
    """The name of a file to write, which becomes `path` at the end, or goes when that fails."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

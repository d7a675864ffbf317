"""Index maps and their rules, in memory and in files (docs/index-map-format.md)."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from ..base.files import replacing
from ..errors import InputError

KINDS = ("unknown", "cells", "faces", "edges", "nodes")
IDS, KEYS = np.dtype("<i4"), np.dtype("<i8")
LARGEST = np.iinfo(np.int32).max
WIDEST_KEY = 4096
REWRITE = "write the data set again from its mesh"


class IndexMapError(InputError):
    """An index-map data set is damaged, incomplete or does not match the request."""


def fault(where: object, what: str, remedy: str = REWRITE) -> IndexMapError:
    return IndexMapError(f"{where}: {what}: {remedy}")


@dataclass(frozen=True)
class IndexMaps:
    """Maps of all ranks: rank r owns the indices `starts[r] … starts[r+1]-1` and has the ghosts `ghosts[r]` (ascending).

    Indices start at 0. `keys[i]` identifies index i in the mesh file (cell number, point number, or sorted point numbers); `keys` is None for data
    sets without keys.
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
    def starts(self) -> np.ndarray:
        """First global index of each rank, then `size`."""
        return np.concatenate([[0], np.cumsum(self.owned, dtype=np.int64)])

    def owner_of(self, indices: np.ndarray) -> np.ndarray:
        """Owner of each global index."""
        return np.searchsorted(self.starts, indices, side="right") - 1

    def sources(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Owners of the ghosts of `rank`, ascending, and the number of ghosts from each."""
        return np.unique(self.owner_of(self.ghosts[rank]), return_counts=True)

    def keys_of(self, rank: int) -> np.ndarray | None:
        """Mesh-file keys of the indices that `rank` owns, in their order."""
        return None if self.keys is None else self.keys[self.starts[rank] : self.starts[rank + 1]]


def check_maps(maps: IndexMaps) -> None:
    """Check all ranks' ghosts of maps made in memory, before they are written."""
    for rank, ghosts in enumerate(maps.ghosts):
        _check_ghosts(f"rank {rank}", ghosts, rank, maps.starts, base=0)


def _check_ghosts(where: object, ghosts: np.ndarray, rank: int, starts: np.ndarray, base: int) -> None:
    """Check that ghosts (from 0) ascend and lie in 0 … size-1 outside the rank's block; messages count ids from `base`."""
    first, end, size = int(starts[rank]), int(starts[rank + 1]), int(starts[-1])

    def named(at: int) -> str:
        return f"ghost {at} is id {ghosts[at] + base}"

    for at in np.flatnonzero((ghosts < 0) | (ghosts >= size))[:1]:
        raise fault(where, f"{named(at)}, outside {base} to {size - 1 + base}", f"the data set lacks a rank's file or is damaged; {REWRITE}")
    for at in np.flatnonzero(ghosts[1:] <= ghosts[:-1])[:1] + 1:
        raise fault(where, f"ghost {at} is not in ascending order (id {ghosts[at] + base} follows {ghosts[at - 1] + base})")
    for at in np.flatnonzero((ghosts >= first) & (ghosts < end))[:1]:
        raise fault(where, f"{named(at)}, which this rank owns itself ({first + base} to {end - 1 + base})")


def ranks_of(folder: str | Path, ranks: int | None = None) -> int:
    """Number of ranks P from the folder name NAME-P; if given, `ranks` must equal it.

    For other names: `ranks`, or the number of files data001, data002, … in the folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise fault(folder, "is not a folder" if folder.exists() else "no such data set", "give the folder NAME-P with data001, …")
    named = re.search(r"-(\d{1,9})$", folder.resolve().name)
    if named:
        found = int(named.group(1))
        if ranks is not None and ranks != found:
            raise fault(folder, f"is for {found} ranks, not for {ranks}", f"use {found} ranks, or partition again")
    else:
        found = ranks or 0
        while not ranks and _file(folder, found).exists():
            found += 1
    if found < 1:
        raise fault(folder, "holds the file of no rank", "give the folder NAME-P with data001, …")
    return found


def read_index_maps(folder: str | Path, ranks: int | None = None) -> IndexMaps:
    """Read the maps of all ranks. Local. Ids start at 1 in files and at 0 in the result.

    `ranks`, if given, must match the data set. Ignores bytes after a rank's ids, and surplus files. Raises IndexMapError, a ValueError that names
    fault, file, rank and remedy, if a file is missing, truncated or breaks a rule. Checks sizes against the file before allocation.
    """
    folder, ranks = Path(folder), ranks_of(folder, ranks)
    owned, starts = _owned(folder, ranks)
    ghosts = tuple(_read_ghosts(folder, rank, starts) for rank in range(ranks))
    if not _file(folder, 0, "keys").exists():
        return IndexMaps(owned, ghosts)
    parts = [_read_keys(folder, rank, int(count)) for rank, count in enumerate(owned)]
    kind, width = parts[0][0], parts[0][1].shape[1]
    if any((other, keys.shape[1]) != (kind, width) for other, keys in parts):
        raise fault(folder, "the ranks' keys are of different kinds")
    return IndexMaps(owned, ghosts, KINDS[kind], np.concatenate([keys for _, keys in parts]))


def write_index_maps(maps: IndexMaps, folder: str | Path) -> Path:
    """Write `maps` into `folder`, created if needed, with a name that ends in -P. Local.

    Returns the folder, for `read_index_maps`. Raises IndexMapError if the maps break a rule, an id exceeds 32 bits, the name has another rank
    count, or writing fails.
    """
    folder = Path(folder)
    if not folder.name.endswith(f"-{maps.ranks}"):
        raise fault(folder, "the name does not end in the number of ranks", f"end it in -{maps.ranks}")
    if maps.size > LARGEST:
        raise fault(folder, f"{maps.size} ids do not fit in 32 bits", "write the parts of a smaller mesh")
    check_maps(maps)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for rank, ghosts in enumerate(maps.ghosts):
            _write(_file(folder, rank), IDS, (int(maps.owned[rank]), len(ghosts)), ghosts + 1)
            file, keys = _file(folder, rank, "keys"), maps.keys_of(rank)
            if keys is None:
                file.unlink(missing_ok=True)  # from earlier maps
            else:
                _write(file, KEYS, (KINDS.index(maps.entities), keys.shape[1]), keys)
    except OSError as error:
        raise fault(error.filename or folder, f"cannot be written ({error.strerror})", "choose another folder, or make room") from error
    return folder


def _file(folder: Path, rank: int, kind: str = "data") -> Path:
    return folder / f"{kind}{rank + 1:03d}"


def _owned(folder: Path, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    owned = np.array([_read_counts(folder, rank)[0] for rank in range(ranks)], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(owned)])
    if starts[-1] > LARGEST:
        raise fault(folder, f"the ranks own {starts[-1]} ids, which exceeds 32 bits")
    return owned, starts


def _head(path: Path, rank: int, kind: np.dtype) -> tuple[int, int, int]:
    if not path.is_file():
        raise fault(path, "is not a regular file" if path.exists() else "is missing", f"rank {rank} needs it; {REWRITE}")
    head, size = _words(path, kind, 2, 0), path.stat().st_size
    if len(head) < 2:
        raise fault(f"{path} (rank {rank})", f"is truncated: {size} bytes, but its first two numbers take {2 * kind.itemsize}")
    return int(head[0]), int(head[1]), size


def _rest(path: Path, rank: int, kind: np.dtype, count: int) -> np.ndarray:
    words = _words(path, kind, count, 2 * kind.itemsize)
    if len(words) != count:
        raise fault(f"{path} (rank {rank})", "was shortened while it was read")
    return words.astype(np.int64)


def _words(path: Path, kind: np.dtype, count: int, offset: int) -> np.ndarray:
    try:
        return np.fromfile(path, kind, count, offset=offset)
    except OSError as error:
        raise fault(path, f"cannot be read ({error.strerror})") from error


def _read_counts(folder: Path, rank: int) -> tuple[int, int]:
    path = _file(folder, rank)
    owned, ghosts, size = _head(path, rank, IDS)
    for name, count in (("owned", owned), ("off-process", ghosts)):
        if count < 0:
            raise fault(f"{path} (rank {rank})", f"the number of {name} ids is negative ({count})")
    held = size // IDS.itemsize - 2
    if ghosts > held:
        raise fault(f"{path} (rank {rank})", f"is truncated: it announces {ghosts} off-process ids and holds {held}")
    return owned, ghosts


def _read_ghosts(folder: Path, rank: int, starts: np.ndarray) -> np.ndarray:
    path = _file(folder, rank)
    ids = _rest(path, rank, IDS, _read_counts(folder, rank)[1]) - 1
    _check_ghosts(f"{path} (rank {rank})", ids, rank, starts, base=1)
    return ids


def _read_keys(folder: Path, rank: int, owned: int) -> tuple[int, np.ndarray]:
    path = _file(folder, rank, "keys")
    kind, width, size = _head(path, rank, KEYS)
    if not (0 <= kind < len(KINDS) and 1 <= width <= WIDEST_KEY):
        raise fault(f"{path} (rank {rank})", "does not have the header of a file of keys")
    expected = (2 + owned * width) * KEYS.itemsize
    if size != expected:
        raise fault(f"{path} (rank {rank})", f"has {size} bytes, but the keys of {owned} ids take {expected}")
    return kind, _rest(path, rank, KEYS, owned * width).reshape(owned, width)


def _write(path: Path, kind: np.dtype, head: tuple[int, int], rest: np.ndarray) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(np.array(head, kind).tobytes() + rest.astype(kind).tobytes())


def describe(maps: IndexMaps) -> dict:
    """Summarize sizes and neighbors of `maps` for JSON. Local.

    `imbalance`: largest over mean block. A rank's neighbors have its cells as ghosts, or own its ghosts; `one_way` counts pairs with ghosts on one
    side only.
    """
    ghosts = np.array([len(ids) for ids in maps.ghosts])
    sources = [maps.sources(rank)[0] for rank in range(maps.ranks)]
    columns, rows = np.concatenate(sources), np.repeat(np.arange(maps.ranks), [len(found) for found in sources])
    reads = sparse.csr_array((np.ones(len(columns), dtype=bool), (rows, columns)), shape=(maps.ranks,) * 2)
    one_way = int((reads != reads.T).nnz) // 2
    return {
        "entities": maps.entities,
        "ranks": maps.ranks,
        "size": maps.size,
        "owned": _spread(maps.owned),
        "imbalance": imbalance(maps.owned),
        "ghosts": _spread(ghosts) | {"total": int(ghosts.sum())},
        "neighbors": _spread(np.diff((reads + reads.T).tocsr().indptr)),
        "symmetric": one_way == 0,
        "one_way": one_way,
        "empty_ranks": int(np.count_nonzero(maps.owned == 0)),
    }


def inspect(path: str | Path, ranks: int | None = None) -> dict:
    """Read, check and `describe` a data set. Local.

    Raises IndexMapError if it is damaged or not for `ranks`.
    """
    return {"schema": "parhelion.index-maps/1", "path": str(path)} | describe(read_index_maps(path, ranks))


def _spread(values: np.ndarray) -> dict:
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())}


def imbalance(owned: np.ndarray) -> float:
    """Largest over mean block; 1 is perfect."""
    return float(owned.max() / owned.mean()) if owned.any() else 1.0

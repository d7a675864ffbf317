"""Data sets of index maps: a folder NAME-P with files data001 … in the published format, and keys001 … for the names in the mesh file.

docs/index-map-format.md has their bytes.
"""

import re
from pathlib import Path

import numpy as np

from .errors import fault
from .maps import IndexMaps, REWRITE, RankMap, check_ghosts, check_maps, check_rank, check_ranks, opened, write_whole

_INT32 = np.dtype("<i4")
_LARGEST = np.iinfo(np.int32).max
_HEADER = 2 * _INT32.itemsize
_KEY = np.dtype("<i8")
_KEYS_HEADER = 2 * _KEY.itemsize
_WIDEST_KEY = 4096
KINDS = ("unknown", "cells", "faces", "edges", "nodes")


def ranks_of(folder: str | Path, ranks: int | None = None) -> int:
    """The P of a folder's name NAME-P, which must equal `ranks` if that is given.

    Of a folder with another name: `ranks`, or the number of files data001, data002, … in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise fault(folder, "is not a folder" if folder.exists() else "no such data set", "give the folder NAME-P that holds data001 …")
    named = re.search(r"-(\d{1,9})$", folder.resolve().name)
    if named:
        check_ranks(folder, int(named.group(1)), ranks)
    found = int(named.group(1)) if named else ranks or _count_files(folder)
    if found < 1:
        raise fault(folder, "holds the file of no rank", "give the folder NAME-P that holds data001 …")
    return found


def read_index_maps(folder: str | Path, ranks: int | None = None) -> IndexMaps:
    """Read the maps of all ranks. Local. Ids start at 1 in the files and at 0 in what is returned.

    `ranks`, when given, must be the data set's own. Bytes after a rank's ids and surplus files are
    ignored. Raises IndexMapError, a ValueError that names the fault, the file and rank, and the
    remedy, when a file is missing, truncated or breaks a rule; nothing is allocated before its size
    is known to be in the file.
    """
    folder, ranks = Path(folder), ranks_of(folder, ranks)
    heads = [_read_header(folder, rank) for rank in range(ranks)]
    owned = np.array([owned for owned, _ in heads], dtype=np.int64)
    starts = _starts(folder, owned)
    ghosts = tuple(_read_ghosts(folder, rank, starts) for rank in range(ranks))
    if not _keys_file(folder, 0).exists():
        return IndexMaps(owned, ghosts)
    parts = [_read_keys(folder, rank, int(count)) for rank, count in enumerate(owned)]
    kind, width = parts[0][0], parts[0][1].shape[1]
    if any((other, keys.shape[1]) != (kind, width) for other, keys in parts):
        raise fault(folder, "the ranks' keys name different things", REWRITE)
    return IndexMaps(owned, ghosts, KINDS[kind], np.concatenate([keys for _, keys in parts]))


def read_rank_map(folder: str | Path, rank: int, ranks: int | None = None) -> RankMap:
    """Read one rank's part: its own files, and the first word of every other's. Local."""
    folder, ranks = Path(folder), ranks_of(folder, ranks)
    check_rank(folder, rank, ranks)
    starts = _starts(folder, [_read_header(folder, other)[0] for other in range(ranks)])
    ghosts = _read_ghosts(folder, rank, starts)
    first, end = int(starts[rank]), int(starts[rank + 1])
    keys = _read_keys(folder, rank, end - first)[1] if _keys_file(folder, rank).exists() else None
    return RankMap(rank, ranks, int(starts[-1]), first, end - first, ghosts, keys)


def write_index_maps(maps: IndexMaps, folder: str | Path) -> Path:
    """Write `maps` into `folder`, made if need be; its name has to end in -P. Local.

    Returns the folder, which `read_index_maps` takes. Raises IndexMapError when the maps break a
    rule, an id does not fit in 32 bits, the name tells another rank count, or it cannot be written.
    """
    folder = Path(folder)
    if not folder.name.endswith(f"-{maps.ranks}"):
        raise fault(folder, "the name does not tell the number of ranks", f"end it in -{maps.ranks}")
    if maps.size > _LARGEST:
        raise fault(folder, f"{maps.size} ids do not fit in 32 bits", "write the parts of a smaller mesh")
    check_maps(maps)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(maps.ranks):
            _write_rank(maps, folder, rank)
    except OSError as error:
        where = error.filename or folder
        raise fault(where, f"cannot be written ({error.strerror})", "choose another folder, or make room") from error
    return folder


def _write_rank(maps: IndexMaps, folder: Path, rank: int) -> None:
    part = maps.rank(rank)
    header = np.array([part.owned, len(part.ghosts)], dtype=_INT32)
    write_whole(_file(folder, rank), [header.tobytes(), (part.ghosts + 1).astype(_INT32).tobytes()])
    if part.keys is None:
        _keys_file(folder, rank).unlink(missing_ok=True)  # of maps that were here before
        return
    head = np.array([KINDS.index(maps.entities), maps.key_width], dtype=_KEY)
    write_whole(_keys_file(folder, rank), [head.tobytes(), part.keys.astype(_KEY).tobytes()])


def _file(folder: Path, rank: int) -> Path:
    return folder / f"data{rank + 1:03d}"


def _keys_file(folder: Path, rank: int) -> Path:
    return folder / f"keys{rank + 1:03d}"


def _count_files(folder: Path) -> int:
    count = 0
    while _file(folder, count).exists():
        count += 1
    return count


def _opened(folder: Path, rank: int):
    return opened(_file(folder, rank), f"rank {rank} needs it; {REWRITE}")


def _read_header(folder: Path, rank: int) -> tuple[int, int]:
    """(owned, ghosts) of a rank, both known to be possible."""
    with _opened(folder, rank) as (file, size):
        words = np.frombuffer(file.read(_HEADER), dtype=np.uint8)
    where = f"{_file(folder, rank)} (rank {rank})"
    if len(words) < _HEADER:
        raise fault(where, f"is truncated: {size} bytes, but two counts take {_HEADER}", REWRITE)
    owned, ghosts = (int(count) for count in words.view(_INT32))
    for name, count in (("owned", owned), ("off-process", ghosts)):
        if count < 0:
            raise fault(where, f"the number of {name} ids is negative ({count})", REWRITE)
    if ghosts > (size - _HEADER) // _INT32.itemsize:
        held = (size - _HEADER) // _INT32.itemsize
        raise fault(where, f"is truncated: it announces {ghosts} off-process ids and holds {held}", REWRITE)
    return owned, ghosts


def _starts(folder: Path, owned) -> np.ndarray:
    starts = np.concatenate([[0], np.cumsum(owned, dtype=np.int64)])
    if starts[-1] > _LARGEST:
        raise fault(folder, f"the ranks own {starts[-1]} ids together, more than 32 bits can number", REWRITE)
    return starts


def _read_ghosts(folder: Path, rank: int, starts: np.ndarray) -> np.ndarray:
    count = _read_header(folder, rank)[1]
    with _opened(folder, rank) as (file, _):
        file.seek(_HEADER)
        ids = np.frombuffer(file.read(count * _INT32.itemsize), dtype=_INT32).astype(np.int64) - 1
    where = f"{_file(folder, rank)} (rank {rank})"
    if len(ids) != count:
        raise fault(where, "was shortened while it was read", REWRITE)
    check_ghosts(where, ids, int(starts[rank]), int(starts[rank + 1] - starts[rank]), int(starts[-1]), base=1)
    return ids


def _read_keys(folder: Path, rank: int, owned: int) -> tuple[int, np.ndarray]:
    """What is numbered, and a row of words for each owned id."""
    path = _keys_file(folder, rank)
    where = f"{path} (rank {rank})"
    with opened(path, f"rank {rank} needs it; {REWRITE}") as (file, size):
        head = file.read(_KEYS_HEADER)
        if len(head) < _KEYS_HEADER:
            raise fault(where, f"is truncated: {size} bytes, but its first two numbers take {_KEYS_HEADER}", REWRITE)
        kind, width = (int(number) for number in np.frombuffer(head, dtype=_KEY))
        if not (0 <= kind < len(KINDS) and 1 <= width <= _WIDEST_KEY):
            raise fault(where, "does not begin as a file of keys does", REWRITE)
        expected = _KEYS_HEADER + owned * width * _KEY.itemsize
        if size != expected:
            raise fault(where, f"has {size} bytes, and the keys of {owned} ids take {expected}", REWRITE)
        words = np.frombuffer(file.read(expected - _KEYS_HEADER), dtype=_KEY).astype(np.int64)
    if len(words) != owned * width:
        raise fault(where, "was shortened while it was read", REWRITE)
    return kind, words.reshape(owned, width)

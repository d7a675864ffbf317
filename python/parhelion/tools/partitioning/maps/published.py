"""The published format: a folder NAME-P with files data001 …, streams of little-endian int32."""

import re
from pathlib import Path

import numpy as np

from ..errors import fault
from .maps import REWRITE, IndexMaps, RankMap, check_ghosts, check_maps, check_rank, check_ranks, opened, write_whole

_INT32 = np.dtype("<i4")
_LARGEST = np.iinfo(np.int32).max
_HEADER = 2 * _INT32.itemsize


def published_ranks(folder: str | Path, ranks: int | None = None) -> int:
    """The P of a folder's name NAME-P, which must equal `ranks` if that is given.

    Of a folder with another name: `ranks`, or the number of files data001, data002, … in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise fault(folder, "is not a folder", "give the folder that holds data001 …")
    named = re.search(r"-(\d{1,9})$", folder.resolve().name)
    if named:
        check_ranks(folder, int(named.group(1)), ranks)
    found = int(named.group(1)) if named else ranks or _count_files(folder)
    if found < 1:
        raise fault(folder, "holds the file of no rank", "give the folder NAME-P that holds data001 …")
    return found


def read_published(folder: str | Path, ranks: int | None = None) -> IndexMaps:
    """Read the maps of all ranks. Local. Ids start at 1 in the files and at 0 in what is returned.

    `ranks`, when given, must be the data set's own. Bytes after a rank's ids and surplus files are
    ignored. Raises IndexMapError when a file is missing, truncated or breaks a rule; nothing is
    allocated before its size is known to be in the file.
    """
    folder, ranks = Path(folder), published_ranks(folder, ranks)
    heads = [_read_header(folder, rank) for rank in range(ranks)]
    owned = np.array([owned for owned, _ in heads], dtype=np.int64)
    starts = _starts(folder, owned)
    ghosts = tuple(_read_ghosts(folder, rank, starts) for rank in range(ranks))
    return IndexMaps(owned, ghosts)


def read_published_rank(folder: str | Path, rank: int, ranks: int | None = None) -> RankMap:
    """Read one rank's part: its own file, and the first word of every other's. Local."""
    folder, ranks = Path(folder), published_ranks(folder, ranks)
    check_rank(folder, rank, ranks)
    starts = _starts(folder, [_read_header(folder, other)[0] for other in range(ranks)])
    ghosts = _read_ghosts(folder, rank, starts)
    first, end = int(starts[rank]), int(starts[rank + 1])
    return RankMap(rank, ranks, int(starts[-1]), first, end - first, ghosts)


def write_published(maps: IndexMaps, folder: str | Path) -> Path:
    """Write `maps` into `folder`, made if need be; its name has to end in -P. Local.

    Raises IndexMapError when an id does not fit in 32 bits or the name tells another rank count.
    """
    folder = Path(folder)
    if not folder.name.endswith(f"-{maps.ranks}"):
        raise fault(folder, "the name does not tell the number of ranks", f"end it in -{maps.ranks}")
    if maps.size > _LARGEST:
        raise fault(folder, f"{maps.size} ids do not fit in 32 bits", "use the format parhelion")
    check_maps(maps)
    folder.mkdir(parents=True, exist_ok=True)
    for rank, ghosts in enumerate(maps.ghosts):
        header = np.array([maps.owned[rank], len(ghosts)], dtype=_INT32)
        ids = (ghosts + 1).astype(_INT32)
        write_whole(_file(folder, rank), [header.tobytes(), ids.tobytes()])
    return folder


def _file(folder: Path, rank: int) -> Path:
    return folder / f"data{rank + 1:03d}"


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

"""Reading the project's own format. A rank reads the header, its index entry and its section."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..errors import fault
from .check import REWRITE, check_ghosts, check_rank, check_ranks
from .files import opened
from .layout import ENTRY_BYTES, HEADER_BYTES, KINDS, MAGIC, VERSION, WORD, Entry, Header, crc32, sealed, unpack_entry, unpack_header
from .maps import IndexMaps, RankMap

_INT64 = np.dtype("<i8")
_WIDEST_KEY = 4096


def read_phlmap(path: str | Path, ranks: int | None = None) -> IndexMaps:
    """Read the maps of all ranks. Local. `ranks`, when given, must be the file's own.

    Raises IndexMapError when the file is truncated, altered or breaks a rule; nothing is allocated
    before its size is known to be in the file.
    """
    path = Path(path)
    with opened(path, REWRITE) as (file, size):
        header = _header(file, path, size, ranks)
        parts = [_rank(file, path, header, rank) for rank in range(header.ranks)]
    _check_blocks(path, header, [part for part, _ in parts])
    maps = _together([part for part, _ in parts], KINDS[header.kind])
    for rank, (_, sources) in enumerate(parts):
        if not np.array_equal(np.column_stack(maps.sources(rank)), sources):
            raise fault(f"{path} (rank {rank})", "the list of ranks that own its ghosts is wrong", REWRITE)
    return maps


def _together(parts: list[RankMap], entities: str) -> IndexMaps:
    keys = None if parts[0].keys is None else np.concatenate([part.keys for part in parts])
    owned = np.array([part.owned for part in parts], dtype=np.int64)
    return IndexMaps(owned, tuple(part.ghosts for part in parts), entities, keys)


def read_phlmap_rank(path: str | Path, rank: int, ranks: int | None = None) -> RankMap:
    """Read one rank's part only. Local. Raises IndexMapError like `read_phlmap`."""
    path = Path(path)
    with opened(path, REWRITE) as (file, size):
        header = _header(file, path, size, ranks)
        check_rank(path, rank, header.ranks)
        return _rank(file, path, header, rank)[0]


def _header(file: BinaryIO, path: Path, size: int, ranks: int | None) -> Header:
    data = file.read(HEADER_BYTES)
    if data[: len(MAGIC)] != MAGIC:
        raise fault(path, "is not an index-map file (its first bytes are others)", "give a .phlmap file")
    if len(data) < HEADER_BYTES:
        raise fault(path, f"is truncated: {len(data)} bytes, but the header takes {HEADER_BYTES}", REWRITE)
    header = unpack_header(data)
    if header.version != VERSION:
        raise fault(path, f"is of version {header.version}", f"this reader knows version {VERSION}: use a newer one")
    if not sealed(data):
        raise fault(path, "the header's checksum is wrong", REWRITE)
    _check_header(path, header, size)
    check_ranks(path, header.ranks, ranks)
    return header


def _check_header(path: Path, header: Header, size: int) -> None:
    if header.file_bytes != size:
        raise fault(path, f"has {size} bytes, but its header announces {header.file_bytes}", REWRITE)
    if header.ranks < 1 or header.data_start > size:
        raise fault(path, f"announces {header.ranks} ranks, which {size} bytes cannot hold", REWRITE)
    if header.kind >= len(KINDS) or header.flags or header.key_width > _WIDEST_KEY or header.size >= 2**63:
        raise fault(path, "the header holds values that version 1 does not know", REWRITE)


def _rank(file: BinaryIO, path: Path, header: Header, rank: int) -> tuple[RankMap, np.ndarray]:
    """The rank's part, and (rank, count) of those that own its ghosts."""
    where = f"{path} (rank {rank})"
    entry = _entry(file, where, header, rank)
    ghosts, sources = _links(file, where, entry)
    check_ghosts(where, ghosts, entry.first, entry.owned, header.size)
    _check_sources(where, sources, rank, header.ranks, entry.ghosts)
    keys = _keys(file, where, header, entry)
    return RankMap(rank, header.ranks, header.size, entry.first, entry.owned, ghosts, keys), sources


def _entry(file: BinaryIO, where: str, header: Header, rank: int) -> Entry:
    file.seek(HEADER_BYTES + ENTRY_BYTES * rank)
    data = file.read(ENTRY_BYTES)
    if len(data) < ENTRY_BYTES or not sealed(data):
        raise fault(where, "the checksum of its index entry is wrong", REWRITE)
    entry = unpack_entry(data)
    if entry.offset % WORD or entry.offset < header.data_start or entry.end(header.key_width) > header.file_bytes:
        raise fault(where, "its section lies outside the file", REWRITE)
    if entry.first + entry.owned > header.size:
        raise fault(where, f"owns up to {entry.first + entry.owned} of {header.size} ids", REWRITE)
    return entry


def _words(file: BinaryIO, where: str, size: int, crc: int) -> np.ndarray:
    data = file.read(size)
    if len(data) != size or crc32(data) != crc:
        raise fault(where, "the checksum of its section is wrong", REWRITE)
    return np.frombuffer(data, dtype=_INT64).astype(np.int64)


def _links(file: BinaryIO, where: str, entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    file.seek(entry.offset)
    words = _words(file, where, entry.links_bytes, entry.links_crc)
    return words[: entry.ghosts], words[entry.ghosts :].reshape(-1, 2)


def _keys(file: BinaryIO, where: str, header: Header, entry: Entry) -> np.ndarray | None:
    words = _words(file, where, entry.keys_bytes(header.key_width), entry.keys_crc)
    return words.reshape(entry.owned, header.key_width) if header.key_width else None


def _check_sources(where: str, sources: np.ndarray, rank: int, ranks: int, ghosts: int) -> None:
    owner, count = sources.T
    ascending = (owner[1:] > owner[:-1]).all()
    possible = ((owner >= 0) & (owner < ranks) & (owner != rank) & (count > 0)).all()
    if not (ascending and possible and sum(count.tolist()) == ghosts):
        raise fault(where, "the list of ranks that own its ghosts is wrong", REWRITE)


def _check_blocks(path: Path, header: Header, parts: list[RankMap]) -> None:
    """What only the reader of all ranks can see: that the blocks follow each other without gaps."""
    first = 0
    for part in parts:
        if part.first != first:
            raise fault(f"{path} (rank {part.rank})", f"its block starts at {part.first}, not at {first}", REWRITE)
        first += part.owned
    if first != header.size:
        raise fault(path, f"the ranks own {first} ids together, not {header.size}", REWRITE)

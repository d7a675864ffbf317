"""The project's own format, one .phlmap file for all ranks, with an index, 64 bits, checksummed: its byte layout, writing it and reading
it. See docs/index-map-format.md.

A rank reads the header, its index entry and its section.
"""

import itertools
import struct
import zlib
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..errors import fault
from .maps import REWRITE, IndexMaps, RankMap, check_ghosts, check_maps, check_rank, check_ranks, opened, write_whole

MAGIC = b"\x89PHL\r\n\x1a\n"
VERSION = 1
KINDS = ("unknown", "cells", "faces", "edges", "nodes")
WORD = 8
_INT64 = np.dtype("<i8")

_HEADER = struct.Struct("<8sIIQQIIQ12x")
_ENTRY = struct.Struct("<QQQQQII4x")
_CRC = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CRC.size
ENTRY_BYTES = _ENTRY.size + _CRC.size


@dataclass(frozen=True)
class Header:
    """What the whole file holds; `key_width` is the number of 64-bit words that name an owned index."""

    magic: bytes
    version: int
    kind: int
    ranks: int
    size: int
    key_width: int
    flags: int
    file_bytes: int

    def pack(self) -> bytes:
        return _sealed(_HEADER.pack(*astuple(self)))

    @property
    def data_start(self) -> int:
        return HEADER_BYTES + ENTRY_BYTES * self.ranks


@dataclass(frozen=True)
class Entry:
    """Where one rank's section lies and how long its three lists are."""

    first: int
    owned: int
    ghosts: int
    sources: int
    offset: int
    links_crc: int
    keys_crc: int

    def pack(self) -> bytes:
        return _sealed(_ENTRY.pack(*astuple(self)))

    @property
    def links_bytes(self) -> int:
        """Bytes of the ghosts and of the (rank, count) pairs of their owners."""
        return WORD * (self.ghosts + 2 * self.sources)

    def keys_bytes(self, key_width: int) -> int:
        return WORD * self.owned * key_width

    def end(self, key_width: int) -> int:
        return self.offset + self.links_bytes + self.keys_bytes(key_width)


def crc32(data: bytes) -> int:
    """CRC-32 of zlib, PNG and Ethernet."""
    return zlib.crc32(data)


def _sealed(body: bytes) -> bytes:
    return body + _CRC.pack(crc32(body))


def sealed(data: bytes) -> bool:
    """Whether the last four bytes are the CRC-32 of those before."""
    return _CRC.unpack(data[-_CRC.size :])[0] == crc32(data[: -_CRC.size])


def unpack_header(data: bytes) -> Header:
    """The header in `data`, whatever it claims."""
    return Header(*_HEADER.unpack_from(data))


def unpack_entry(data: bytes) -> Entry:
    """The rank's entry in `data`, whatever it claims."""
    return Entry(*_ENTRY.unpack_from(data))


def write_phlmap(maps: IndexMaps, path: str | Path) -> Path:
    """Write `maps` to the file `path`, its folder made if need be. Local.

    Raises IndexMapError when the maps break a rule of docs/index-map-format.md.
    """
    path = Path(path)
    check_maps(maps)
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = _entries(maps)
    end = entries[-1].end(maps.key_width)
    header = Header(MAGIC, VERSION, KINDS.index(maps.entities), maps.ranks, maps.size, maps.key_width, 0, end)
    index = b"".join(entry.pack() for entry in entries)
    sections = (part for rank in range(maps.ranks) for part in _section(maps, rank))
    write_whole(path, itertools.chain([header.pack() + index], sections))
    return path


def _section(maps: IndexMaps, rank: int) -> tuple[bytes, bytes]:
    """(ghosts and their owners, keys) of one rank."""
    part = maps.rank(rank)
    sources = np.column_stack(maps.sources(rank))
    links = part.ghosts.astype(_INT64).tobytes() + sources.astype(_INT64).tobytes()
    return links, b"" if part.keys is None else part.keys.astype(_INT64).tobytes()


def _entries(maps: IndexMaps) -> list[Entry]:
    entries, starts = [], maps.starts
    offset = HEADER_BYTES + ENTRY_BYTES * maps.ranks
    for rank in range(maps.ranks):
        links, keys = _section(maps, rank)
        ghosts = len(maps.ghosts[rank])
        sources = (len(links) // _INT64.itemsize - ghosts) // 2
        first, owned = int(starts[rank]), int(maps.owned[rank])
        entries.append(Entry(first, owned, ghosts, sources, offset, crc32(links), crc32(keys)))
        offset += len(links) + len(keys)
    return entries


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

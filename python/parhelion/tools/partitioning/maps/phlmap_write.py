"""Writing the project's own format: one file for all ranks, with an index, 64 bits, checksummed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .check import check_maps
from .files import write_whole
from .layout import ENTRY_BYTES, HEADER_BYTES, KINDS, MAGIC, VERSION, Entry, Header, crc32
from .maps import IndexMaps

_INT64 = np.dtype("<i8")


def write_phlmap(maps: IndexMaps, path: str | Path) -> Path:
    """Write `maps` to the file `path`, its folder made if need be. Local.

    Raises IndexMapError when the maps break a rule of docs/index-map-format.md.
    """
    path = Path(path)
    check_maps(maps)
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = _entries(maps)
    end = entries[-1].offset + entries[-1].links_bytes + entries[-1].keys_bytes(_key_width(maps))
    header = Header(MAGIC, VERSION, KINDS.index(maps.entities), maps.ranks, maps.size, _key_width(maps), 0, end)
    index = b"".join(entry.pack() for entry in entries)
    write_whole(path, _chunks(header.pack() + index, maps))
    return path


def _chunks(front: bytes, maps: IndexMaps) -> Iterator[bytes]:
    yield front
    for rank in range(maps.ranks):
        yield from _section(maps, rank)


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


def _key_width(maps: IndexMaps) -> int:
    return 0 if maps.keys is None else maps.keys.shape[1]

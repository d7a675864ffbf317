"""Writing the project's own format: one file for all ranks, with an index, 64 bits, checksummed."""

import itertools
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

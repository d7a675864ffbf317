"""The byte layout of a .phlmap file, once, for writing and reading. See docs/index-map-format.md."""

import struct
import zlib
from dataclasses import astuple, dataclass

MAGIC = b"\x89PHL\r\n\x1a\n"
VERSION = 1
KINDS = ("unknown", "cells", "faces", "edges", "nodes")
WORD = 8

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

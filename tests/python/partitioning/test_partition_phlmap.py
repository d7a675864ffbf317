"""The project's own format: its bytes as documented, its faults, and what it keeps."""

import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

from parhelion.tools.partitioning import IndexMapError, IndexMaps, convert, read_index_maps, read_rank_map
from parhelion.tools.partitioning.maps.phlmap import write_phlmap

pytestmark = pytest.mark.timeout(60)

# Offsets as docs/index-map-format.md gives them, not as the code does.
HEADER, ENTRY = 64, 56


def sample() -> IndexMaps:
    """Three ranks, the second owns nothing; two words name an id."""
    keys = np.array([[5, 7], [4, 9], [0, 1], [2, -1], [8, 8]])
    return IndexMaps(np.array([3, 0, 2]), (np.array([4]), np.array([0, 2, 3]), np.array([], dtype=int)), "edges", keys)


@pytest.fixture
def path(tmp_path) -> Path:
    return write_phlmap(sample(), tmp_path / "sample-3.phlmap")


def reseal(data: bytearray, start: int, length: int) -> None:
    """Put the right checksum at the end of a header or entry, so that another check must find the fault."""
    struct.pack_into("<I", data, start + length - 4, zlib.crc32(data[start : start + length - 4]))


def packed(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}q", *words)


def altered(path: Path, at: int, form: str, value: int, seal: tuple[int, int] | None = None) -> Path:
    data = bytearray(path.read_bytes())
    struct.pack_into("<" + form, data, at, value)
    if seal:
        reseal(data, *seal)
    path.write_bytes(data)
    return path


def test_the_bytes_are_those_of_the_documentation(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PHL\r\n\x1a\n"
    assert struct.unpack_from("<IIQQIIQ", data, 8) == (1, 3, 3, 5, 2, 0, len(data))
    assert data[48:60] == bytes(12)
    assert struct.unpack_from("<I", data, 60)[0] == zlib.crc32(data[:60])
    # first, owned, ghosts, (owner, count) pairs, keys
    expected = [(0, 3, [4], [2, 1], [5, 7, 4, 9, 0, 1]), (3, 0, [0, 2, 3], [0, 2, 2, 1], []),
                (3, 2, [], [], [2, -1, 8, 8])]  # fmt: skip
    end = HEADER + 3 * ENTRY
    for rank, (first, owned, ghosts, sources, keys) in enumerate(expected):
        entry = data[HEADER + rank * ENTRY :][:ENTRY]
        links, named = packed(ghosts + sources), packed(keys)
        offset, end = end, end + len(links) + len(named)
        counts = (first, owned, len(ghosts), len(sources) // 2, offset)
        sums = (zlib.crc32(links), zlib.crc32(named), 0, zlib.crc32(entry[:52]))
        assert struct.unpack("<QQQQQIIII", entry) == (*counts, *sums)
        assert data[offset:end] == links + named
    assert end == len(data)


def assert_equal(left: IndexMaps, right: IndexMaps) -> None:
    assert left.owned.tolist() == right.owned.tolist()
    assert [g.tolist() for g in left.ghosts] == [g.tolist() for g in right.ghosts]


def test_what_is_read_is_what_was_written(path):
    maps = read_index_maps(path)
    assert_equal(maps, sample())
    assert maps.entities == "edges"
    assert maps.keys.tolist() == sample().keys.tolist()


def test_a_rank_reads_its_part_alone_even_when_anothers_is_damaged(path):
    size = path.stat().st_size
    altered(path, size - 8, "q", 1)
    part = read_rank_map(path, 0)
    assert (part.first, part.owned, part.ghosts.tolist(), part.keys.tolist()) == (0, 3, [4], [[5, 7], [4, 9], [0, 1]])
    assert read_rank_map(path, 1).ghosts.tolist() == [0, 2, 3]
    with pytest.raises(IndexMapError, match=r"rank 2\): the checksum of its section"):
        read_rank_map(path, 2)


def test_converting_to_the_published_format_and_back_keeps_ranks_and_ghosts(path, tmp_path):
    folder = convert(path, tmp_path / "sample-3")
    back = read_index_maps(convert(folder, tmp_path / "back-3.phlmap"))
    assert_equal(back, sample())
    assert back.keys is None and back.entities == "unknown"


def test_every_single_flipped_byte_is_noticed(path):
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        with pytest.raises(IndexMapError, match="sample-3.phlmap"):
            read_index_maps(path)


def test_every_truncation_and_any_extra_byte_is_noticed(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(IndexMapError, match="sample-3.phlmap"):
            read_index_maps(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(IndexMapError, match="bytes, but its header announces"):
        read_index_maps(path)


HEAD, FIRST, SECOND = (0, HEADER), (HEADER, ENTRY), (HEADER + ENTRY, ENTRY)


@pytest.mark.parametrize("at, form, value, seal, what", [
    (8, "I", 2, HEAD, "is of version 2"),
    (12, "I", 5, HEAD, "values that version 1 does not know"),
    (16, "Q", 0, HEAD, "announces 0 ranks"),
    (16, "Q", 2**60, HEAD, "announces 1152921504606846976 ranks"),
    (24, "Q", 2**63, HEAD, "values that version 1 does not know"),
    (24, "Q", 6, HEAD, "own 5 ids together, not 6"),
    (24, "Q", 4, HEAD, "outside 0 to 3"),
    (32, "I", 2**32 - 1, HEAD, "values that version 1 does not know"),
    (36, "I", 1, HEAD, "values that version 1 does not know"),
    (HEADER, "Q", 1, FIRST, "its block starts at 1, not at 0"),
    (HEADER, "Q", 2**64 - 1, FIRST, "owns up to"),
    (HEADER + 8, "Q", 2**63, FIRST, "its section lies outside the file"),
    (HEADER + 16, "Q", 2**64 - 1, FIRST, "its section lies outside the file"),
    (HEADER + 24, "Q", 2**61, FIRST, "its section lies outside the file"),
    (HEADER + 32, "Q", 0, FIRST, "its section lies outside the file"),
    (HEADER + 32, "Q", 2**64 - 8, FIRST, "its section lies outside the file"),
    (HEADER + 32, "Q", 233, FIRST, "its section lies outside the file"),
    (HEADER + ENTRY + 40, "I", 7, SECOND, r"rank 1\): the checksum of its section"),
])  # fmt: skip
def test_a_wrong_value_under_a_right_checksum_is_refused_without_a_large_allocation(at, form, value, seal, what, path):
    altered(path, at, form, value, seal)
    tracemalloc.start()
    with pytest.raises(IndexMapError, match=what):
        read_index_maps(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("sources", [[0, 3, 2, 0], [2, 1, 0, 2], [0, 2, 1, 1], [0, 2, 9, 1], [0, 1, 2, 2]])
def test_a_wrong_list_of_owners_is_refused(sources, path):
    data = bytearray(path.read_bytes())
    offset = struct.unpack_from("<Q", data, HEADER + ENTRY + 32)[0]
    links = packed([0, 2, 3] + sources)
    data[offset : offset + len(links)] = links
    struct.pack_into("<I", data, HEADER + ENTRY + 40, zlib.crc32(links))
    reseal(data, *SECOND)
    path.write_bytes(data)
    with pytest.raises(IndexMapError, match=r"rank 1\): the list of ranks that own its ghosts is wrong"):
        read_index_maps(path)


def test_a_file_of_another_kind_and_a_path_to_nothing_are_refused(tmp_path):
    (tmp_path / "other").write_bytes(b"some text\n" * 50)
    with pytest.raises(IndexMapError, match="is not an index-map file"):
        read_index_maps(tmp_path / "other")
    with pytest.raises(IndexMapError, match="no such data set"):
        read_index_maps(tmp_path / "nothing")


def test_a_file_for_another_number_of_ranks_is_refused(path):
    with pytest.raises(IndexMapError, match="is for 3 ranks, not for 4"):
        read_index_maps(path, ranks=4)
    with pytest.raises(IndexMapError, match="has no rank -1"):
        read_rank_map(path, -1)


def test_ids_beyond_32_bits_are_kept(tmp_path):
    large = 2**40
    maps = IndexMaps(np.array([large, 1]), (np.array([large]), np.array([7, large - 1])))
    assert_equal(read_index_maps(write_phlmap(maps, tmp_path / "large-2.phlmap")), maps)

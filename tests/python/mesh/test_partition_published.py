"""Data sets: their bytes as documented, their faults, and the published sets where they are at hand."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from parhelion.mesh.maps import IndexMapError
from parhelion.mesh.maps import IndexMaps
from parhelion.mesh.maps import inspect
from parhelion.mesh.maps import read_index_maps, write_index_maps
from parhelion.mesh.maps import ranks_of

pytestmark = pytest.mark.timeout(60)

PUBLISHED = Path(__file__).parents[4] / "shared" / "data"


def folder_of(root: Path, *files: list[int], name: str | None = None) -> Path:
    """A data set with these 32-bit words in its files."""
    folder = root / (name or f"set-{len(files)}")
    folder.mkdir()
    for rank, words in enumerate(files):
        np.array(words, dtype="<i4").tofile(folder / f"data{rank + 1:03d}")
    return folder


def test_a_folder_is_read_as_its_description_says(tmp_path):
    maps = read_index_maps(folder_of(tmp_path, [3, 2, 4, 6], [2, 1, 1], [1, 0]))
    assert maps.owned.tolist() == [3, 2, 1]
    assert [ghosts.tolist() for ghosts in maps.ghosts] == [[3, 5], [0], []]


def test_written_bytes_are_counts_and_ids_from_one_in_little_endian_32_bits(tmp_path):
    maps = IndexMaps(np.array([3, 2]), (np.array([3, 4]), np.array([0])))
    folder = write_index_maps(maps, tmp_path / "set-2")
    assert sorted(file.name for file in folder.iterdir()) == ["data001", "data002"]
    assert (folder / "data001").read_bytes() == b"\3\0\0\0\2\0\0\0\4\0\0\0\5\0\0\0"
    assert (folder / "data002").read_bytes() == b"\2\0\0\0\1\0\0\0\1\0\0\0"


def test_bytes_after_the_ids_and_surplus_files_are_ignored(tmp_path):
    folder = folder_of(tmp_path, [2, 1, 3, 99, -5], [1, 1, 1, 7], [5, 1, 77], name="set-2")
    assert read_index_maps(folder).size == 3


def test_ranks_own_indices_in_their_order(tmp_path):
    maps = read_index_maps(folder_of(tmp_path, [3, 2, 4, 6], [2, 1, 1], [1, 0]))
    assert (maps.starts.tolist(), maps.size, maps.ranks, maps.ghosts[1].tolist()) == ([0, 3, 5, 6], 6, 3, [0])


@pytest.mark.parametrize("files, what", [
    ([[2, 1, 3], [1]], r"data002 \(rank 1\): is truncated: 4 bytes"),
    ([[2, 1, 3], []], r"data002 \(rank 1\): is truncated: 0 bytes"),
    ([[2, 2, 3], [1, 0]], r"data001 \(rank 0\): is truncated: it announces 2 off-process ids and holds 1"),
    ([[2, 2**31 - 1, 3], [1, 0]], r"announces 2147483647 off-process ids and holds 1"),
    ([[-2, 1, 3], [1, 0]], r"data001 \(rank 0\): the number of owned ids is negative \(-2\)"),
    ([[2, -1, 3], [1, 0]], r"the number of off-process ids is negative \(-1\)"),
    ([[2, 1, 4], [1, 0]], r"ghost 0 is id 4, outside 1 to 3"),
    ([[2, 1, 0], [1, 0]], r"ghost 0 is id 0, outside 1 to 3"),
    ([[2, 1, -7], [1, 0]], r"ghost 0 is id -7, outside 1 to 3"),
    ([[2, 1, 3], [1, 2, 1, 3]], r"data002 \(rank 1\): ghost 1 is id 3, which this rank owns itself \(3 to 3\)"),
    ([[2, 0], [2, 2, 2, 1]], r"ghost 1 is not in ascending order \(id 1 follows 2\)"),
    ([[2, 0], [2, 2, 1, 1]], r"ghost 1 is not in ascending order \(id 1 follows 1\)"),
    ([[2**31 - 1, 0], [2**31 - 1, 0]], r"own 4294967294 ids"),
])
def test_a_broken_set_is_refused_with_file_rank_and_fault(files, what, tmp_path):
    folder = folder_of(tmp_path, *files)
    with pytest.raises(IndexMapError, match=what) as caught:
        read_index_maps(folder)
    assert "again" in str(caught.value)


def test_a_missing_file_is_named_with_its_rank(tmp_path):
    folder = folder_of(tmp_path, [1, 0], [1, 0], [1, 0])
    (folder / "data002").unlink()
    with pytest.raises(IndexMapError, match="data002: is missing: rank 1 needs it"):
        read_index_maps(folder)


def test_a_folder_in_place_of_a_ranks_file_is_refused(tmp_path):
    folder = folder_of(tmp_path, [1, 0], [1, 0])
    (folder / "data002").unlink()
    (folder / "data002").mkdir()
    with pytest.raises(IndexMapError, match="data002: is not a regular file"):
        read_index_maps(folder)


def test_a_set_for_another_number_of_ranks_is_refused(tmp_path):
    folder = folder_of(tmp_path, [1, 0], [1, 0])
    with pytest.raises(IndexMapError, match="is for 2 ranks, not for 3"):
        read_index_maps(folder, ranks=3)


def test_a_folder_without_a_number_has_as_many_ranks_as_files(tmp_path):
    folder = folder_of(tmp_path, [1, 0], [1, 0], name="plain")
    assert ranks_of(folder) == 2
    assert read_index_maps(folder, ranks=1).size == 1


@pytest.mark.parametrize("name", ["set-0", "plain"])
def test_an_empty_folder_is_refused(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(IndexMapError, match="holds the file of no rank"):
        read_index_maps(tmp_path / name)


def test_a_name_that_claims_a_billion_ranks_costs_nothing(tmp_path):
    folder = folder_of(tmp_path, [1, 0], name="set-999999999")
    tracemalloc.start()
    with pytest.raises(IndexMapError, match="data002: is missing"):
        read_index_maps(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_nothing_that_breaks_the_rules_is_written(tmp_path):
    two = np.array([2, 2])
    for ghosts, what in [([1], "owns itself"), ([4], "outside 0 to 3"), ([3, 2], "ascending")]:
        with pytest.raises(IndexMapError, match=what):
            write_index_maps(IndexMaps(two, (np.array(ghosts), np.array([], dtype=int))), tmp_path / "set-2")
    with pytest.raises(IndexMapError, match="end it in -2"):
        write_index_maps(IndexMaps(two, (np.array([2]), np.array([0]))), tmp_path / "set-3")
    huge = IndexMaps(np.array([2**31]), (np.array([], dtype=int),))
    with pytest.raises(IndexMapError, match="do not fit in 32 bits"):
        write_index_maps(huge, tmp_path / "set-1")
    assert list(tmp_path.iterdir()) == []


def with_keys(folder: Path) -> Path:
    """Three ranks, the second owns nothing; two words name an id."""
    keys = np.array([[5, 7], [4, 9], [0, 1], [2, -1], [8, 8]])
    maps = IndexMaps(np.array([3, 0, 2]), (np.array([4]), np.array([0, 2, 3]), np.array([], dtype=int)), "edges", keys)
    return write_index_maps(maps, folder)


def test_keys_lie_beside_the_ids_and_come_back(tmp_path):
    folder = with_keys(tmp_path / "set-3")
    assert sorted(file.name for file in folder.iterdir()) == [f"{kind}00{rank}" for kind in ("data", "keys") for rank in (1, 2, 3)]
    assert (folder / "keys001").read_bytes() == np.array([3, 2, 5, 7, 4, 9, 0, 1], "<i8").tobytes()
    assert (folder / "keys002").read_bytes() == np.array([3, 2], "<i8").tobytes()
    maps = read_index_maps(folder)
    assert maps.entities == "edges" and maps.keys.tolist() == [[5, 7], [4, 9], [0, 1], [2, -1], [8, 8]]
    assert maps.keys_of(2).tolist() == [[2, -1], [8, 8]] and maps.keys_of(1).shape == (0, 2)


def test_maps_without_keys_leave_none_of_those_before(tmp_path):
    folder = with_keys(tmp_path / "set-3")
    write_index_maps(IndexMaps(np.array([3, 0, 2]), (np.array([4]), np.array([0]), np.array([], dtype=int))), folder)
    maps = read_index_maps(folder)
    assert maps.keys is None and maps.keys_of(0) is None
    assert not list(folder.glob("keys*"))


@pytest.mark.parametrize("words, what", [
    ([], r"keys003 \(rank 2\): is truncated: 0 bytes"),
    ([3], "is truncated: 8 bytes"),
    ([3, 2, 2, -1, 8], "has 40 bytes, but the keys of 2 ids take 48"),
    ([3, 2, 2, -1, 8, 8, 9], "has 56 bytes, but the keys of 2 ids take 48"),
    ([3, 2**62, 2, -1, 8, 8], "does not have the header of a file of keys"),
    ([3, 0], "does not have the header of a file of keys"),
    ([5, 2, 2, -1, 8, 8], "does not have the header of a file of keys"),
    ([2, 2, 2, -1, 8, 8], "the ranks' keys are of different kinds"),
    ([3, 1, 2, -1], "the ranks' keys are of different kinds"),
])
def test_broken_keys_are_refused_without_a_large_allocation(words, what, tmp_path):
    folder = with_keys(tmp_path / "set-3")
    np.array(words, "<i8").tofile(folder / "keys003")
    tracemalloc.start()
    with pytest.raises(IndexMapError, match=what):
        read_index_maps(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_a_missing_file_of_keys_is_named_with_its_rank(tmp_path):
    folder = with_keys(tmp_path / "set-3")
    (folder / "keys002").unlink()
    with pytest.raises(IndexMapError, match="keys002: is missing: rank 1 needs it"):
        read_index_maps(folder)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published sets are not at hand")
def test_every_published_set_at_hand_is_read_and_has_its_meshs_cells():
    cells = {"B0": 70302, "B1": 206368, "B2": 562019, "B3": 1648288, "B4": 4372406}
    folders = sorted(PUBLISHED.glob("opencalc-*"))
    assert folders
    for folder in folders:
        _, mesh, ranks = folder.name.split("-")
        summary = inspect(folder, int(ranks))
        assert (summary["size"], summary["ranks"]) == (cells[mesh], int(ranks))
        assert summary["imbalance"] < 1.001 and summary["empty_ranks"] == 0

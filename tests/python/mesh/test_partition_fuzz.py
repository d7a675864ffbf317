"""Damaged data sets: whatever is in the files, a reader returns lawful maps or raises IndexMapError."""

import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parhelion.mesh.maps import IndexMapError
from parhelion.mesh.maps import IndexMaps
from parhelion.mesh.maps import read_index_maps, write_index_maps
from parhelion.mesh.maps import check_maps

pytestmark = pytest.mark.timeout(300)
thorough = settings(max_examples=200, deadline=None, print_blob=True)

WORDS = st.one_of(st.integers(-3, 12), st.sampled_from([-(2**31), 2**31 - 1, 2**30]))
PACKED = st.lists(WORDS, max_size=8).map(lambda words: struct.pack(f"<{len(words)}i", *words))
FILES = st.one_of(PACKED, st.binary(max_size=24))
LONGS = st.one_of(st.integers(-3, 12), st.integers(-(2**63), 2**63 - 1))


@st.composite
def lawful_maps(draw) -> IndexMaps:
    owned = np.array(draw(st.lists(st.integers(0, 6), min_size=1, max_size=5)))
    starts = np.concatenate([[0], np.cumsum(owned)])
    foreign = [sorted(set(range(starts[-1])) - set(range(a, b))) for a, b in zip(starts, starts[1:])]
    ghosts = tuple(np.array([i for i in ids if draw(st.booleans())], dtype=np.int64) for ids in foreign)
    width = draw(st.integers(0, 3))
    keys = np.arange(starts[-1] * width).reshape(starts[-1], width) if width else None
    return IndexMaps(owned, ghosts, draw(st.sampled_from(["unknown", "cells", "nodes"])), keys)


def read_or_refuse(path: Path) -> None:
    try:
        maps = read_index_maps(path)
    except IndexMapError as error:
        assert path.name in str(error)
    else:
        check_maps(maps)


@thorough
@given(lawful_maps())
def test_lawful_maps_survive(maps):
    with tempfile.TemporaryDirectory() as root:
        back = read_index_maps(write_index_maps(maps, Path(root) / f"set-{maps.ranks}"), maps.ranks)
        assert back.owned.tolist() == maps.owned.tolist()
        assert [g.tolist() for g in back.ghosts] == [g.tolist() for g in maps.ghosts]
        assert (back.keys is None) == (maps.keys is None)
        assert maps.keys is None or ((back.keys == maps.keys).all() and back.entities == maps.entities)


@thorough
@given(st.lists(FILES, min_size=1, max_size=4))
def test_any_words_in_the_files_of_a_published_set_are_lawful_or_refused(files):
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / f"set-{len(files)}"
        folder.mkdir()
        for rank, data in enumerate(files):
            (folder / f"data{rank + 1:03d}").write_bytes(data)
        read_or_refuse(folder)


@thorough
@given(lawful_maps(), st.data())
def test_keys_with_altered_words_are_lawful_or_refused(maps, data):
    with tempfile.TemporaryDirectory() as root:
        folder = write_index_maps(maps, Path(root) / f"set-{maps.ranks}")
        files = sorted(folder.glob("keys*"))
        if not files:
            return
        path = data.draw(st.sampled_from(files))
        words = list(np.fromfile(path, "<i8"))
        for _ in range(data.draw(st.integers(1, 3))):
            words[data.draw(st.integers(0, len(words) - 1))] = data.draw(LONGS)
        np.array(words[: data.draw(st.integers(0, len(words)))], "<i8").tofile(path)
        read_or_refuse(folder)

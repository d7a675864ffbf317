"""Row arrays in HDF5 files."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..base.together import together, total, total_before
from ..domain.indexed import IndexedDomain
from .exchange import fill_ghosts
from ..exchange.index_map import IndexMap, checked_map
from ..errors import install_extra
from .storage import DetachedRows, detach

SCHEMA = "parhelion.rows/1"
ONE_FILE = {".h5", ".hdf5"}


def save(array: Any, path: Any) -> None:
    """See GhostArray.save."""
    comm = array._comm
    h5py = together(comm, _h5py)
    rows, place = together(comm, lambda: (detach(array), Path(path)))
    if place.suffix in ONE_FILE:
        _save_one(h5py, array.map, rows, place)
    else:
        together(comm, lambda: _save_part(h5py, rows, place, comm.rank, comm.size))


def load(path: Any, map: IndexMap) -> Any:
    """See GhostArray.load."""
    comm = checked_map(map)._native_comm
    h5py = together(comm, _h5py)
    place = together(comm, lambda: Path(path))
    if place.suffix not in ONE_FILE:
        return together(comm, lambda: _load_part(h5py, place, comm.rank, comm.size)).attach(map)
    array = _load_own(h5py, place, map).put_on(map)
    if array.layout != "ragged":  # whose ghosts have come with their sizes
        fill_ghosts(array)
    return array


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"saving and loading rows needs h5py ({error}): {install_extra('h5', 'h5py')}") from None
    return h5py


def _stored(h5py: Any, entries: np.ndarray) -> np.ndarray:
    """As HDF5 can hold it; what it has no type for goes as opaque bytes."""
    try:
        h5py.h5t.py_create(entries.dtype, logical=True)
        return entries
    except TypeError:
        return np.ascontiguousarray(entries).view(np.dtype((np.void, entries.dtype.itemsize)))


def _describe(file: Any, rows: DetachedRows) -> None:
    file.attrs.update(
        schema=SCHEMA, layout=rows.layout, shape=np.array(rows.shape, np.int64), most=rows.most, alignment=rows.alignment,
        dtype=repr(np.lib.format.dtype_to_descr(rows.entries.dtype)),
    )  # fmt: skip


def _read_description(file: Any, place: Path) -> tuple[np.dtype, dict[str, Any]]:
    import ast

    attributes = dict(file.attrs)
    if attributes.get("schema") != SCHEMA:
        raise ValueError(f"{place} does not hold rows that GhostArray.save wrote (schema {attributes.get('schema')!r})")
    kind = np.lib.format.descr_to_dtype(ast.literal_eval(attributes["dtype"]))
    shape = tuple(int(side) for side in attributes["shape"])
    return kind, {"layout": str(attributes["layout"]), "shape": shape, "most": int(attributes["most"]),
                  "alignment": int(attributes["alignment"])}  # fmt: skip


def _opened(h5py: Any, place: Path, mode: str, **how: Any) -> Any:
    try:
        return h5py.File(place, mode, **how)
    except OSError as error:
        action = "read" if mode == "r" else "write"
        raise ValueError(f"cannot {action} {place}: {error}") from None


def _save_part(h5py: Any, rows: DetachedRows, folder: Path, rank: int, ranks: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(h5py, folder / f"rows.{rank}.h5", "w") as file:
        _describe(file, rows)
        file.attrs["ranks"] = ranks
        for name in ("owned_ids", "ghost_ids", "sizes"):
            file[name] = getattr(rows, name)
        file["entries"] = _stored(h5py, rows.entries)


def _load_part(h5py: Any, folder: Path, rank: int, ranks: int) -> DetachedRows:
    place = folder / f"rows.{rank}.h5"
    with _opened(h5py, place, "r") as file:
        kind, told = _read_description(file, place)
        if file.attrs["ranks"] != ranks:
            raise ValueError(f"{folder} was saved by {file.attrs['ranks']} ranks and there are {ranks}: start as many, or save "
                             "into one file (rows.h5)")  # fmt: skip
        return DetachedRows(**told, owned_ids=file["owned_ids"][:], ghost_ids=file["ghost_ids"][:], sizes=file["sizes"][:],
                            entries=file["entries"][:].view(kind))  # fmt: skip


def _save_one(h5py: Any, map: IndexMap, rows: DetachedRows, place: Path) -> None:
    """All ranks' owned rows in rank order, one rank after the other: what fails on one is told by all."""
    native = map._native_comm
    count = int(rows.sizes[: map.owned].sum())
    first, size = total_before(native, map.owned, count), total(native, map.owned, count)

    def create() -> None:
        with _opened(h5py, place, "w") as file:
            _describe(file, rows)
            file.create_dataset("ids", (int(size[0]),), np.int64)
            file.create_dataset("sizes", (int(size[0]),), np.int32)
            file.create_dataset("entries", (int(size[1]), *rows.shape), _stored(h5py, rows.entries).dtype)

    def write(file: Any) -> None:
        file["ids"][first[0] : first[0] + map.owned] = rows.owned_ids
        file["sizes"][first[0] : first[0] + map.owned] = rows.sizes[: map.owned]
        if count:
            file["entries"][first[1] : first[1] + count] = _stored(h5py, rows.entries[:count])

    together(native, lambda: create() if native.rank == 0 else None)
    for turn in range(native.size):
        together(native, partial(_write_into, h5py, place, write) if turn == native.rank else lambda: None)


def _write_into(h5py: Any, place: Path, write: Any) -> None:
    with _opened(h5py, place, "r+") as file:
        write(file)


def _load_own(h5py: Any, place: Path, map: IndexMap) -> DetachedRows:
    """This rank's owned rows, wherever they stand in the file. Each rank reads a share of the ids, and looks its own up there."""
    comm = map._native_comm
    ids, sizes = together(comm, lambda: _share(h5py, place, comm.rank, comm.size))
    starts, sizes = _found(ids, sizes, map, place)
    return together(comm, lambda: _rows_at(h5py, place, starts, sizes, map))


def _share(h5py: Any, place: Path, rank: int, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids and sizes of the rows that this rank looks after while a file is read: as many as of any other."""
    with _opened(h5py, place, "r") as file:
        _read_description(file, place)
        rows = len(file["ids"])
        mine = slice(rows * rank // ranks, rows * (rank + 1) // ranks)
        return file["ids"][mine], file["sizes"][mine]


def _found(ids: np.ndarray, sizes: np.ndarray, map: IndexMap, place: Path) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of each owned row begin, and how many there are. Collective."""
    comm = map._native_comm
    before = total_before(comm, int(sizes.sum(dtype=np.int64)))[0]
    shares = IndexedDomain.__new__(IndexedDomain)
    shares._comm, shares._native_comm = map._comm, comm
    try:
        shares._native = _core.IndexedDomain.from_owned_ids(comm, ids, map.owned_ids, True)
    except ValueError as error:
        raise ValueError(f"{place} does not have all of the map's rows, each of them once: {error}") from None
    rows = IndexMap(shares)
    told = np.zeros((rows.size, 2), np.int64)
    told[: rows.owned, 0] = before + np.cumsum(sizes, dtype=np.int64) - sizes
    told[: rows.owned, 1] = sizes
    rows.forward(told)
    return told[rows.owned :, 0], told[rows.owned :, 1]


def _rows_at(h5py: Any, place: Path, starts: np.ndarray, sizes: np.ndarray, map: IndexMap) -> DetachedRows:
    with _opened(h5py, place, "r") as file:
        kind, told = _read_description(file, place)
        pieces = [file["entries"][first:end] for first, end in _stretches(starts, sizes)]
        empty = np.empty((0, *told["shape"]), file["entries"].dtype)
        entries = np.concatenate(pieces or [empty]).view(kind)
    if told["layout"] == "uniform":
        entries = np.concatenate([entries, np.zeros((map.ghosts, *told["shape"]), kind)])
    all_sizes = np.concatenate([sizes.astype(np.int32), np.zeros(map.ghosts, np.int32)])
    return DetachedRows(**told, owned_ids=map.owned_ids, ghost_ids=map.ghost_ids, sizes=all_sizes, entries=entries)


def _stretches(starts: np.ndarray, sizes: np.ndarray) -> list[tuple[int, int]]:
    """Rows as ranges of entries; those that follow each other in the file are one."""
    if len(starts) == 0:
        return []
    ends = starts + sizes
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    return [(int(starts[part[0]]), int(ends[part[-1]])) for part in np.split(np.arange(len(starts)), breaks)]

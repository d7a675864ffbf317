"""Row arrays in HDF5 files."""

from pathlib import Path
from typing import Any

import numpy as np

from ..base.together import own, together, total, total_before
from .exchange import fill_ghosts
from ..exchange.index_map import IndexMap, checked_map
from ..launch.remedies import install_extra
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
    array = together(comm, lambda: _load_own(h5py, place, map)).put_on(map)
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
    """All ranks' owned rows in rank order: at once where HDF5 is parallel, else one rank after the other."""
    native = map._native_comm
    comm, turn = own(native), native.next_tag()
    count = int(rows.sizes[: map.owned].sum())
    first, size = total_before(native, map.owned, count), total(native, map.owned, count)

    def create(**how: Any) -> Any:
        file = _opened(h5py, place, "w", **how)
        _describe(file, rows)
        entries = _stored(h5py, rows.entries)
        file.create_dataset("ids", (int(size[0]),), np.int64)
        file.create_dataset("sizes", (int(size[0]),), np.int32)
        file.create_dataset("entries", (int(size[1]), *rows.shape), entries.dtype)
        return file

    def write(file: Any) -> None:
        file["ids"][first[0] : first[0] + map.owned] = rows.owned_ids
        file["sizes"][first[0] : first[0] + map.owned] = rows.sizes[: map.owned]
        if count:
            file["entries"][first[1] : first[1] + count] = _stored(h5py, rows.entries[:count])

    if h5py.get_config().mpi:
        with create(driver="mpio", comm=comm) as file:
            write(file)
        return
    together(native, lambda: create().close() if comm.rank == 0 else None)
    failure = comm.recv(source=comm.rank - 1, tag=turn) if comm.rank > 0 else None
    if failure is None:
        failure = _attempt(lambda: _write_into(h5py, place, write))
    if comm.rank + 1 < comm.size:
        comm.send(failure, comm.rank + 1, tag=turn)
    together(native, lambda: _raise(failure))


def _write_into(h5py: Any, place: Path, write: Any) -> None:
    with _opened(h5py, place, "r+") as file:
        write(file)


def _attempt(work: Any) -> str | None:
    try:
        work()
    except Exception as error:
        return str(error) or type(error).__name__
    return None


def _raise(failure: str | None) -> None:
    if failure is not None:
        raise ValueError(failure)


def _load_own(h5py: Any, place: Path, map: IndexMap) -> DetachedRows:
    """This rank's owned rows, wherever they stand in the file."""
    with _opened(h5py, place, "r") as file:
        kind, told = _read_description(file, place)
        positions = _positions(file["ids"][:], map, place)
        all_sizes = file["sizes"][:]
        starts = np.concatenate([[0], np.cumsum(all_sizes, dtype=np.int64)])
        pieces = [file["entries"][starts[a] : starts[b]] for a, b in _stretches(positions)]
        empty = np.empty((0, *told["shape"]), file["entries"].dtype)
        entries = np.concatenate(pieces or [empty]).view(kind)
    sizes = np.concatenate([all_sizes[positions], np.zeros(map.ghosts, np.int32)])
    if told["layout"] == "uniform":
        entries = np.concatenate([entries, np.zeros((map.ghosts, *told["shape"]), kind)])
    return DetachedRows(**told, owned_ids=map.owned_ids, ghost_ids=map.ghost_ids, sizes=sizes, entries=entries)


def _positions(ids: np.ndarray, map: IndexMap, place: Path) -> np.ndarray:
    wanted = map.owned_ids
    order = np.argsort(ids, kind="stable")
    found = np.searchsorted(ids, wanted, sorter=order)
    known = np.zeros(len(wanted), bool) if len(ids) == 0 else ids[order[np.minimum(found, len(ids) - 1)]] == wanted
    if not known.all():
        raise ValueError(f"{place} has no row {wanted[~known][0]}, which rank {map._native_comm.rank} owns: load it on a map of the rows it has")
    return order[found]


def _stretches(positions: np.ndarray) -> list[tuple[int, int]]:
    """Positions as ranges that follow each other in the file."""
    if len(positions) == 0:
        return []
    breaks = np.flatnonzero(np.diff(positions) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(positions, breaks)]

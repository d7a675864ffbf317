"""Index-map data sets of either format: reading, writing, converting."""

from pathlib import Path

from ..errors import IndexMapError, fault
from .maps import IndexMaps, RankMap
from .phlmap import read_phlmap, read_phlmap_rank, write_phlmap
from .published import read_published, read_published_rank, write_published

FORMATS = ("published", "parhelion")
"""In which index maps are written."""
SUFFIX = ".phlmap"


def format_of(path: str | Path) -> str:
    """`published` for a folder, `parhelion` for a file. Raises IndexMapError when there is neither."""
    path = Path(path)
    if path.is_dir():
        return "published"
    if path.is_file():
        return "parhelion"
    raise IndexMapError(f"{path}: no such data set: give a folder NAME-P or a {SUFFIX} file")


def read_index_maps(path: str | Path, ranks: int | None = None) -> IndexMaps:
    """The maps of all ranks of a data set in either format. Local.

    `ranks`, when given, must be the data set's own. Raises IndexMapError, a ValueError that names
    the fault, the file and rank, and the remedy.
    """
    read = read_published if format_of(path) == "published" else read_phlmap
    return read(path, ranks)


def read_rank_map(path: str | Path, rank: int, ranks: int | None = None) -> RankMap:
    """One rank's part of a data set in either format, without reading the others' ids. Local."""
    read = read_published_rank if format_of(path) == "published" else read_phlmap_rank
    return read(path, rank, ranks)


def write_index_maps(maps: IndexMaps, folder: str | Path, name: str, form: str) -> Path:
    """Write `maps` into `folder` as NAME-P (published) or NAME-P.phlmap (parhelion). Local.

    Returns the path of the data set, which `read_index_maps` takes. Raises IndexMapError when the
    maps break a rule, do not fit in the format, or cannot be written there.
    """
    stem = Path(folder) / f"{name}-{maps.ranks}"
    if form not in FORMATS:
        raise IndexMapError(f"format {form!r} is unknown: use one of {', '.join(FORMATS)}")
    return _write(maps, stem if form == "published" else stem.with_name(stem.name + SUFFIX))


def convert(source: str | Path, destination: str | Path) -> Path:
    """Rewrite a data set in the other format. Local.

    The format follows from `destination`: a name that ends in .phlmap, or a folder NAME-P. The
    published format has no place for the names in terms of the mesh file and for the kind.
    """
    return _write(read_index_maps(source), Path(destination))


def _write(maps: IndexMaps, path: Path) -> Path:
    write = write_phlmap if path.suffix == SUFFIX else write_published
    try:
        return write(maps, path)
    except OSError as error:
        where = error.filename or path
        raise fault(where, f"cannot be written ({error.strerror})", "choose another folder, or make room") from error

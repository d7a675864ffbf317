"""Reading parts of files without believing them, and writing files that are whole or absent."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import fault


@contextlib.contextmanager
def opened(path: Path, remedy: str) -> Iterator[tuple[BinaryIO, int]]:
    """(file, its size in bytes); IndexMapError when it is not there, no regular file, or unreadable."""
    if not path.is_file():
        what = "is not a regular file" if path.exists() else "is missing"
        raise fault(path, what, remedy)
    try:
        with path.open("rb") as file:
            yield file, os.fstat(file.fileno()).st_size
    except OSError as error:
        raise fault(path, f"cannot be read ({error.strerror})", remedy) from error


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to `path` so that a reader meets the old file, or the new one, never a piece."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.writelines(chunks)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[str]:
    """The name of a file to write, which becomes `path` at the end, or goes when that fails."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Reading user files: regular ones only, because devices and pipes may have no end. Writing them: whole, or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import writing


def unfit(path: str | Path) -> str | None:
    """Return why `path` is not a readable file, to follow its name in a message; None if it may be one."""
    path = Path(path)
    try:
        if path.is_file():
            return None
        if path.is_dir():
            return "is a folder: give a file"
        return "is not a regular file (a device or a pipe): give a file" if path.exists() else "does not exist: check the path"
    except (OSError, ValueError) as error:  # name too long, or with a zero byte
        return f"is not a readable path ({getattr(error, 'strerror', None) or error})"


def read_bounded(path: str | Path, most: int) -> bytes:
    """Read a regular file of at most `most` bytes, else raise OSError."""
    why = unfit(path)
    if why:
        raise OSError(None, why)
    with Path(path).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(None, f"is larger than {most // 2**20} MiB, the most that is read")
    return content


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces `path` at the end: readers see the old file or the new one, never a part."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file; if that fails, as on a full disk, the old one stays. Raises OSError that names the file."""
    place, parts = Path(path).resolve(), [content] if isinstance(content, bytes) else content
    old = place.exists()
    with writing(path):
        if (old and not place.is_file()) or not os.access(place.parent, os.W_OK):  # a device or a pipe; a file in another's folder
            with place.open("wb") as file:
                file.writelines(parts)
            return
        with replacing(place) as temporary:
            temporary.touch()
            if old:
                temporary.chmod(place.stat().st_mode)
            with temporary.open("wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())

"""Files that users name: regular ones only, for a device or a pipe may have no end."""

from pathlib import Path


def unfit(path: str | Path) -> str | None:
    """Why `path` cannot be read as a file, as the end of a sentence that begins with it; `None` when it can be tried."""
    path = Path(path)
    try:
        if path.is_file():
            return None
        if path.is_dir():
            return "is a folder: give a file"
        return "is not a regular file (a device or a pipe): give a file" if path.exists() else "does not exist: check the path"
    except (OSError, ValueError) as error:  # name too long, or with a NUL byte
        return f"is no path ({getattr(error, 'strerror', None) or error})"


def read_bounded(path: str | Path, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes; OSError says why there are none."""
    why = unfit(path)
    if why:
        raise OSError(None, why)
    with Path(path).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(None, f"is larger than {most // 2**20} MiB, the most that is read")
    return content

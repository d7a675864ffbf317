"""Reading user files: regular ones only, because devices and pipes may have no end."""

from pathlib import Path


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
        return f"is no path ({getattr(error, 'strerror', None) or error})"


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

"""Reading small system files that may be absent."""

from pathlib import Path


def read_text(path: str | Path) -> str | None:
    """The stripped text of a file, or `None` when it cannot be read."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except (OSError, ValueError):
        return None


def read_int(path: str | Path) -> int | None:
    """The number in a file, or `None`."""
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def parse_size(text: str) -> int:
    """A kernel size such as `32K` in bytes."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)

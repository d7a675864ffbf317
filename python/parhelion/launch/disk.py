"""What an error of writing should tell: which file, and how much room there is."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: str | os.PathLike) -> Iterator[None]:
    """What fails inside names the file: the system does so only when a file is opened, not when it is written to."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, why(error, path), os.fspath(path)) from None


def why(error: OSError, path: str | os.PathLike) -> str:
    """The system's own words, and for a full disk what is free there."""
    said = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{said}{_free(Path(path))}; make room, or name a folder on another disk"
    if error.errno == errno.EFBIG:
        return f"{said}{_limit()}"
    return said


def _free(path: Path) -> str:
    for folder in (path, *path.absolute().parents):
        try:
            disk = os.statvfs(folder)
        except OSError:
            continue
        return f" ({amount(disk.f_bavail * disk.f_frsize)} of {amount(disk.f_blocks * disk.f_frsize)} free)"
    return ""


def _limit() -> str:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return "" if most == resource.RLIM_INFINITY else f" (files may have {amount(most)} here: raise it with ulimit -f)"


def amount(size: float) -> str:
    """Bytes in the largest unit that they fill."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"

"""What the loaded libraries hold: another image often has other files at the same places."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..folder import LoadedFile

LETTERS = 16


def loaded_files(paths: Iterable[str]) -> dict[str, LoadedFile]:
    """Size and checksum of every file that can be read on this host."""
    return {path: found for path in sorted(set(paths)) if (found := _look(Path(path)))}


def _look(path: Path) -> LoadedFile | None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        return LoadedFile(path.stat().st_size, digest.hexdigest()[:LETTERS])
    except OSError:
        return None

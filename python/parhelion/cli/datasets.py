"""Folders that hold a partitioned mesh: one file per rank, `data001` …"""

from __future__ import annotations

import re
from pathlib import Path

from .errors import BadInput

RANK_FILE = re.compile(r"data(\d{3,})$")
SUFFIX = re.compile(r"[-_.](\d+)$")
HEADER_BYTES = 8


def rank_count(folder: Path, ranks: int | None = None) -> int:
    """The number of ranks that a set was partitioned for.

    The number at the end of the folder's name (`opencalc-B0-12`) decides, because published folders hold surplus
    files of an earlier, larger partition; without one, the files that follow each other from `data001` on do.
    """
    numbers = _rank_files(folder)
    named = SUFFIX.search(folder.resolve().name)
    count = ranks or (int(named[1]) if named else _consecutive(numbers))
    if count < 1:
        raise BadInput(f"{folder} has no file data001: give a folder with one file per rank, data001 …")
    missing = [number for number in range(1, count + 1) if number not in numbers][:1]
    if missing:
        raise BadInput(f"{folder} lacks data{missing[0]:03d} of {count} ranks: restore the file, or give --ranks")
    for number in range(1, count + 1):
        _check_header(numbers[number])
    return count


def _rank_files(folder: Path) -> dict[int, Path]:
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder: give data-set folders such as ../shared/data/opencalc-B0-2")
    try:
        files = [(RANK_FILE.match(file.name), file) for file in folder.iterdir()]
    except OSError as error:
        raise BadInput(f"cannot read {folder}: {error.strerror}") from None
    return {int(match[1]): file for match, file in files if match}


def _consecutive(numbers: dict[int, Path]) -> int:
    count = 0
    while count + 1 in numbers:
        count += 1
    return count


def _check_header(file: Path) -> None:
    try:
        size = file.stat().st_size
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    if size < HEADER_BYTES:
        raise BadInput(f"{file} holds {size} bytes, its header alone takes {HEADER_BYTES}: the file is cut short")

"""Run folders: `runs/<time>-<benchmark>-<id>/record.jsonl` and what the ranks printed."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

import msgspec

from ..launch.disk import why
from .model import Case, End, Labels, Launch, RecordError, Run, SCHEMA
from .read import FILE_NAME
from .variables import without_secrets

DEFAULT_STORE = Path("runs")


@dataclass(frozen=True)
class RunFolder:
    """A folder that is a valid run from the moment it is made."""

    path: Path

    @property
    def record(self) -> Path:
        return self.path / FILE_NAME

    @classmethod
    def create(
        cls,
        benchmark: str,
        argv: list[str],
        environment: dict[str, Any],
        path: Path | None = None,
        labels: dict[str, str] | None = None,
    ) -> RunFolder:
        """Make the folder (`path`, or a new one in `runs/`) with the first line of its record."""
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%dT%H%M%S}-{benchmark}-{secrets.token_hex(3)}"
        folder = cls(path or DEFAULT_STORE / run_id)
        run = Run(SCHEMA, run_id, benchmark, now.isoformat(timespec="seconds"), without_secrets(argv), labels or {}, environment)
        folder._claim()
        try:
            folder.append(run)
        except RecordError:
            folder.record.unlink(missing_ok=True)
            raise
        return folder

    def _claim(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.record.open("x").close()
        except FileExistsError:
            raise RecordError(f"{self.path} already holds a run, or is a file: name another folder") from None
        except OSError as error:
            raise RecordError(f"cannot make the run folder {self.path}: {why(error, self.path)}") from None

    def append(self, line: Run | Launch | Case | Labels | End) -> None:
        """Append one line and flush it to the disk."""
        append_line(self.record, line)

    def drop_unfinished_line(self) -> None:
        """Cut off a last line that killed ranks left without its end, so that the next launch starts on its own."""
        with self.record.open("rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)


def append_line(record: Path, line: Run | Launch | Case | Labels | End) -> None:
    """Append one line to a record and flush it to the disk, or none of it; raises `RecordError` when that cannot be done."""
    content = msgspec.json.encode(line) + b"\n"
    try:
        with record.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                _write(file, content)
            except OSError:
                file.truncate(before)
                raise
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(f"cannot write {record}: {why(error, record)}") from None


def _write(file: FileIO, content: bytes) -> None:
    """All of it: a disk that fills up takes the beginning first and refuses the rest."""
    while content:
        content = content[file.write(content) :]

"""Run folders, `runs/<time>-<benchmark>-<id>/record.jsonl`; a store is a folder of run folders."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..base.files import read_bounded
from ..errors import InputError, why
from .model import SCHEMA, Labels, Line, RecordError, Run
from .read import FILE_NAME, Record, read_record, renamed
from .variables import secret_labels, without_secrets

DEFAULT_STORE = Path("runs")
T = TypeVar("T")


def new_id(name: str) -> str:
    """Return a unique folder name; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{name}-{secrets.token_hex(3)}"


def empty_folder(folder: Path, kind: type[InputError]) -> Path:
    """Create `folder`, or accept an empty one; raises `kind`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise kind(f"cannot make the folder {folder}: {why(error, folder)}") from None
    if taken:
        raise kind(f"{folder} is not empty: name another folder with --out")
    return folder


def read_document(file: Path, form: type[T], schema: str, most: int, kind: type[InputError], what: str) -> T:
    """Read a JSON document of at most `most` bytes; raises `kind`."""
    try:
        found = msgspec.json.decode(renamed(read_bounded(file, most)), type=form)
    except OSError as error:
        raise kind(f"not a Parhelion {what}: cannot read {file}: {error.strerror}; give a folder with {file.name}") from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise kind(f"{file} is not a Parhelion {what}: {error}; the file was not changed") from None
    if found.schema != schema:  # type: ignore[attr-defined]
        raise kind(f"{file} has schema '{found.schema}', this Parhelion reads '{schema}': use the version that wrote it")  # type: ignore[attr-defined]
    return found


@dataclass(frozen=True)
class RunFolder:
    """A run folder; its record is valid from creation on."""

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
        """Create the folder (`path`, or a new one in `runs/`) with the record's first line; raises `RecordError`."""
        run_id, created = new_id(benchmark), datetime.now(UTC).isoformat(timespec="seconds")
        folder = cls(path or DEFAULT_STORE / run_id)
        run = Run(SCHEMA, run_id, benchmark, created, without_secrets(argv), labels or {}, environment)
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
            folder.record.open("x").close()
        except FileExistsError:
            raise RecordError(f"{folder.path} already holds a run, or is a file: name another folder") from None
        except OSError as error:
            raise RecordError(f"cannot make the run folder {folder.path}: {why(error, folder.path)}") from None
        try:
            folder.append(run)
        except RecordError:
            folder.record.unlink(missing_ok=True)
            raise
        return folder

    def append(self, line: Line) -> None:
        append_line(self.record, line)

    def drop_unfinished_line(self) -> None:
        """Truncate an unfinished last line of killed ranks, so that the next launch starts on a new line."""
        with self.record.open("rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)


def append_line(record: Path, line: Line) -> None:
    """Append one line to a record and sync it to disk; on failure, restore the record and raise `RecordError`."""
    content = msgspec.json.encode(line) + b"\n"
    try:
        with record.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                while content:  # a full disk may accept only the beginning
                    content = content[file.write(content) :]
            except OSError:
                file.truncate(before)
                raise
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(f"cannot write {record}: {why(error, record)}") from None


@dataclass(frozen=True)
class Stored:
    """A run in a store: its record, or the error of reading it."""

    path: Path
    record: Record | None
    error: str | None = None


def folders_with(file: str, store: Path) -> list[Path]:
    """Return the store's folders that contain `file`, or cannot be read, oldest first; empty without a store."""
    return sorted(folder for folder in store.iterdir() if _may_exist(folder / file)) if store.is_dir() else []


def _may_exist(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True


def stored_runs(store: Path) -> list[Stored]:
    """Return all runs of a store, oldest first; raises `RecordError` if the store does not exist."""
    if not store.is_dir():
        raise RecordError(f"{store} is not a store of runs: the folder does not exist; measure something, or give --store")
    return [_stored(folder) for folder in folders_with(FILE_NAME, store)]


def find_run(name: str, store: Path, file: str = FILE_NAME, what: str = "run") -> Path:
    """Resolve `name`: a path, or the full or unique partial name of a store's folder with `file`; raises `RecordError`."""
    if Path(name).exists():
        return Path(name)
    matches = [folder for folder in folders_with(file, store) if name and name in folder.name]
    exact = [folder for folder in matches if folder.name == name]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    found = f": {len(matches)} {what}s have that in their names" if matches else f" is not a {what}: no {what} has that in its name"
    raise RecordError(f"{name}{found} in {store}: give a {what} folder, or a unique part of its name")


def relabel(run: Path, changes: dict[str, str | None]) -> Record:
    """Set labels of a run (`None` removes a label); returns the updated record. Raises `RecordError`."""
    record = read_record(run)
    if record.path.read_bytes()[-1:] != b"\n":
        raise RecordError(f"{record.path} ends in an unfinished line: wait for the run to end; a killed run cannot have labels")
    append_line(record.path, Labels(changes))
    return read_record(run)


def _stored(folder: Path) -> Stored:
    try:
        return Stored(folder, read_record(folder))
    except RecordError as error:
        return Stored(folder, None, str(error))


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    pairs = [label.partition("=") for label in labels]
    for label, (key, equals, _) in zip(labels, pairs, strict=True):
        if not key.strip() or not equals:
            raise InputError(f"--label {label}: give KEY=VALUE, such as image=v0.4")
    told = {key.strip(): value.strip() for key, _, value in pairs}
    for key in secret_labels(told):
        raise InputError(f"--label {key}=…: it looks like a secret, and labels are stored and shown; leave it out, or use another key")
    return told

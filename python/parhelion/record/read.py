"""Reading and validation of records."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..base.files import unfit
from .model import FINISHED, INTERLEAVED, SCHEMA, UNAVAILABLE, Case, End, Labels, Launch, Line, Plan, RecordError, Run, complaint

FILE_NAME = "record.jsonl"
OLDER_KEYS = {"contender": "variant", "flavor": "build"}
_older = re.compile(b'"(contender|flavor|duet|peer)"')
_decoder = msgspec.json.Decoder(Line)
_tags = {kind.__struct_config__.tag for kind in (Run, Launch, Plan, Case, Labels, End)}


@dataclass
class Record:
    """One run; `notes` holds warnings, such as a truncated line."""

    path: Path
    run: Run
    launches: list[Launch] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    planned: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.run.run

    @property
    def labels(self) -> dict[str, str]:
        return self.run.labels


def read_record(path: str | Path) -> Record:
    """Read a record from a run folder or a file; raises `RecordError`.

    Skips an unfinished last line of a killed run with a note and keeps all finished cases.
    """
    file = record_file(path)
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordError(f"cannot read {file}: {error.strerror}") from None
    unfinished = lines.pop()
    if not lines:
        raise RecordError(f"{file} is not a Parhelion record: it holds no finished line")
    record = Record(file, _first_line(lines[0], file))
    for number, line in enumerate(lines[1:], start=2):
        _add(record, parse_line(line, file, number), number)
    _number_pairs(record)
    if unfinished:
        record.notes.append("the last line was cut short, as by a killed run, and is left out")
    return record


def failed(record: Record) -> list[End]:
    """Return the last end of each launch that failed."""
    last = {end.launch: end for end in record.ends}
    return [end for end in last.values() if end.status not in (*FINISHED, UNAVAILABLE)]


def record_file(path: str | Path) -> Path:
    """Return the record of a run folder, or `path` if it is a file; raises `RecordError`."""
    path = Path(path)
    file = path / FILE_NAME if path.is_dir() else path
    why = unfit(file)
    if why:
        hint = f"it holds no {FILE_NAME}" if path.is_dir() and why.startswith("does not exist") else f"{file} {why}"
        raise RecordError(f"{path} is not a run: {hint}; give a run folder such as runs/…")
    return file


def renamed(text: bytes) -> bytes:
    """Replace JSON keys of older versions by today's; labels that a user gave stay."""
    return msgspec.json.encode(_today(msgspec.json.decode(text))) if _older.search(text) else text


def _today(value: Any) -> Any:
    if isinstance(value, list):
        return [_today(each) for each in value]
    if not isinstance(value, dict):
        return value
    today = {OLDER_KEYS.get(key, key): each if key == "labels" else _today(each) for key, each in value.items()}
    labels = today.get("labels")
    if isinstance(labels, dict) and re.fullmatch("[0-9a-f]{8}", str(labels.get("duet"))):
        today["labels"] = {INTERLEAVED if key == "duet" else key: each for key, each in labels.items()}
    if today.get("role") == "peer":
        today["role"] = "library"
    return today


def parse_line(line: bytes, file: Path, number: int) -> Any:
    """Decode a line; returns `None` for a blank line or an unknown type, raises `RecordError`."""
    if not line.strip():
        return None
    try:
        return _decoder.decode(renamed(line))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        if _is_unknown_kind(line):
            return None
        raise _damaged(file, number, str(error) or type(error).__name__) from None


def _is_unknown_kind(line: bytes) -> bool:
    try:
        kind = msgspec.json.decode(line)["type"]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, KeyError, TypeError, IndexError):
        return False
    return isinstance(kind, str) and kind not in _tags


def _first_line(line: bytes, file: Path) -> Run:
    try:
        first = _decoder.decode(renamed(line))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        first = None
    if not isinstance(first, Run) or not first.schema.startswith("parhelion.record/"):
        raise RecordError(f"{file} is not a Parhelion record: its first line is not of type 'run' with schema '{SCHEMA}'")
    if first.schema != SCHEMA:
        raise RecordError(f"{file} has schema '{first.schema}', this Parhelion reads '{SCHEMA}': use the version that wrote it")
    return first


def _add(record: Record, line: Line | None, number: int) -> None:
    why = complaint(line)
    if why:
        raise _damaged(record.path, number, why)
    match line:
        case Launch():
            record.launches.append(line)
        case Plan():
            record.planned[line.launch] = record.planned.get(line.launch, 0) + line.cases
        case Case():
            record.cases.append(line)
        case Labels():
            _relabel(record.run.labels, line.labels)
        case End():
            record.ends.append(line)
        case Run():
            raise _damaged(record.path, number, "a second line of type 'run'")


def _number_pairs(record: Record) -> None:
    """Number the launches of an interleaved run: older builds do not record pairs."""
    if INTERLEAVED in record.labels:
        for launch in record.launches:
            launch.pair = launch.launch if launch.pair is None else launch.pair


def _relabel(labels: dict[str, str], changes: dict[str, str | None]) -> None:
    for key, value in changes.items():
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value


def _damaged(file: Path, number: int, why: str) -> RecordError:
    return RecordError(f"{file} is damaged at line {number}: {why}; the file was not changed")

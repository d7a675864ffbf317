"""A store: a folder of run folders, nothing more. Damaged runs are listed with what is wrong and left alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..cli.errors import BadInput
from .folder import DEFAULT_STORE, append_line
from .model import Labels, RecordError
from .read import FILE_NAME, Record, read_record
from .variables import secret_labels


@dataclass(frozen=True)
class Stored:
    """A run in a store; either its record or what keeps it from being read."""

    path: Path
    record: Record | None
    error: str | None = None


def folders_with(file: str, store: Path) -> list[Path]:
    """The folders of a store that hold such a file, the oldest first; none where there is no store."""
    return sorted(folder for folder in store.iterdir() if (folder / file).exists()) if store.is_dir() else []


def stored_runs(store: Path) -> list[Stored]:
    """Every run of the store, the oldest first; raises `RecordError` when there is no such folder."""
    if not store.is_dir():
        raise RecordError(f"{store} is no store of runs: there is no such folder; measure something, or give --store")
    return [_stored(folder) for folder in folders_with(FILE_NAME, store)]


def find_run(name: str, store: Path, file: str = FILE_NAME, what: str = "run") -> Path:
    """A run by its path, by its name in the store, or by a part of its name that no other run has; so whatever a `file` tells."""
    if Path(name).exists():
        return Path(name)
    matches = [folder for folder in folders_with(file, store) if name and name in folder.name]
    exact = [folder for folder in matches if folder.name == name]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    found = f": {len(matches)} {what}s have that in their names" if matches else f" is not a {what}: no {what} has that in its name"
    raise RecordError(f"{name}{found} in {store}: give a {what} folder, or a part of its name that no other has")


class Named(click.ParamType):
    """What a store keeps, where a command takes it: a path, a name in the store, or a part of one. Completes names in a shell."""

    def __init__(self, store: Path, file: str, what: str) -> None:
        self.store, self.file, self.name = store, file, what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return value if isinstance(value, Path) else find_run(value, self._store(ctx), self.file, self.name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = [folder.name for folder in folders_with(self.file, self._store(ctx))]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, *click.Path().shell_complete(ctx, param, incomplete)]

    def _store(self, ctx: click.Context | None) -> Path:
        return (ctx.params.get("store") if ctx else None) or self.store


RUN = Named(DEFAULT_STORE, FILE_NAME, "run")


def relabel(run: Path, changes: dict[str, str | None]) -> Record:
    """Give labels to a run, or take those away whose value is `None`; returns the record as it is then."""
    record = read_record(run)
    if record.path.read_bytes()[-1:] != b"\n":
        raise RecordError(f"{record.path} ends in an unfinished line: wait for the run to end; a killed run cannot be labeled")
    append_line(record.path, Labels(changes))
    return read_record(run)


def _stored(folder: Path) -> Stored:
    try:
        return Stored(folder, read_record(folder))
    except RecordError as error:
        return Stored(folder, None, str(error))


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs = [label.partition("=") for label in labels]
    for label, (key, equals, _) in zip(labels, pairs, strict=True):
        if not key.strip() or not equals:
            raise BadInput(f"--label {label}: give KEY=VALUE, such as image=v0.4")
    told = {key.strip(): value.strip() for key, _, value in pairs}
    for key in secret_labels(told):
        raise BadInput(f"--label {key}=…: it looks like a secret, and labels are kept and shown; leave it out, or name it otherwise")
    return told

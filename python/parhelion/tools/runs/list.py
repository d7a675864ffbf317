"""`parhelion runs list`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from ..records.labels import parse_labels
from ..cli.output import Output, json_option
from ..records.store import Stored, stored_runs
from .options import labeled_option, store_option


@click.command()
@store_option
@click.option("--benchmark", help="Only runs of this benchmark.")
@labeled_option
@json_option
def list_runs(store: Path, benchmark: str | None, labels: tuple[str, ...], json_file: str | None) -> None:
    """List the runs in a store, the oldest first. Runs that cannot be read are named with the reason."""
    output = Output(json_file)
    wanted = parse_labels(labels)
    runs = [run for run in stored_runs(store) if _matches(run, benchmark, wanted)]
    table = Table()
    for name in ("run", "benchmark", "launches", "lines", "labels", "notes"):
        table.add_column(name, overflow="fold")
    for run in runs:
        table.add_row(*map(escape, _cells(run)))
    output.console.print(table if runs else "no run matches")
    output.document({"schema": "parhelion.runs/1", "store": str(store), "runs": [_object(run) for run in runs]})


def _matches(run: Stored, benchmark: str | None, labels: dict[str, str]) -> bool:
    if run.record is None:
        return not benchmark and not labels
    right = benchmark in (None, run.record.run.benchmark)
    return right and all(run.record.labels.get(name) == value for name, value in labels.items())


def _cells(run: Stored) -> tuple[str, ...]:
    record = run.record
    if record is None:
        return run.path.name, "–", "–", "–", "", run.error or ""
    labels = ", ".join(f"{name}={value}" for name, value in record.labels.items())
    return run.path.name, record.run.benchmark, str(len(record.launches)), str(len(record.cases)), labels, "; ".join(record.notes)


def _object(run: Stored) -> dict[str, object]:
    record = run.record
    if record is None:
        return {"path": str(run.path), "error": run.error}
    return {
        "path": str(run.path), "run": record.id, "benchmark": record.run.benchmark, "created": record.run.created,
        "labels": record.labels, "launches": len(record.launches), "lines": len(record.cases), "notes": record.notes,
    }  # fmt: skip

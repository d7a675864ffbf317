"""`parhelion runs tag`."""

from __future__ import annotations

from pathlib import Path

import click

from ..records.labels import parse_labels
from ..cli.output import Output, json_option
from ..records.store import RUN, relabel
from .options import store_option


@click.command()
@click.argument("run", type=RUN)
@click.argument("labels", nargs=-1, metavar="KEY=VALUE...")
@click.option("--remove", multiple=True, metavar="KEY", help="Take a label away; may be repeated.")
@store_option
@json_option
def tag_run(run: Path, labels: tuple[str, ...], remove: tuple[str, ...], store: Path, json_file: str | None) -> None:
    """Give RUN labels, such as image=v0.4 reservation=full notes='after the upgrade'."""
    output = Output(json_file)
    changes: dict[str, str | None] = {**parse_labels(labels), **dict.fromkeys(remove)}
    record = relabel(run, changes)
    for name, value in record.labels.items():
        output.console.print(f"{name}={value}", markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.labels/1", "run": record.id, "labels": record.labels})

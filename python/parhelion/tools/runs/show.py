"""`parhelion runs show`."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli.output import Output, json_option
from ..documents.document import bench_document
from ..records import read_record
from ..records.store import find_run
from ..tables.finish import show
from .options import store_option


@click.command()
@click.argument("run")
@store_option
@click.option("--environment", is_flag=True, help="Also the environment.")
@json_option
def show_run(run: str, store: Path, environment: bool, json_file: str | None) -> None:
    """Show one run's table again. RUN is a folder, or a part of its name."""
    from ..records.facts import flatten

    output = Output(json_file)
    record = read_record(find_run(run, store))
    show(record, output)
    facts = {"label " + name: value for name, value in record.labels.items()}
    if environment:
        facts |= dict(flatten(record.run.environment))
    for name, value in facts.items():
        output.console.print(f"{name}: {value}", markup=False, soft_wrap=True)
    output.document(bench_document(record))

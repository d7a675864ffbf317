"""`parhelion runs show`."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli.output import Output, json_option
from ..documents.document import bench_document
from ..records import read_record
from ..records.store import RUN
from ..tables.finish import show
from .options import store_option


@click.command()
@click.argument("run", type=RUN)
@store_option
@click.option("--environment", is_flag=True, help="Also the environment.")
@json_option
def show_run(run: Path, store: Path, environment: bool, json_file: str | None) -> None:
    """Show one run's table again. RUN is a name in the store, a part of one, or a folder."""
    from ..records.facts import flatten

    output = Output(json_file)
    record = read_record(run)
    show(record, output)
    facts = {"label " + name: value for name, value in record.labels.items()}
    if environment:
        facts |= dict(flatten(record.run.environment))
    for name, value in facts.items():
        output.console.print(f"{name}: {value}", markup=False, soft_wrap=True)
    output.document(bench_document(record))

"""`parhelion runs export` and `parhelion runs query`."""

from pathlib import Path

import click
from rich.markup import escape

from ..cli.errors import BadInput
from ..cli.output import Output, json_option
from ..records.store import RUN
from ..style.terminal import table as table_of
from .commands import chosen, store_option
from .query import FORMATS, TABLES, export, query


@click.command()
@click.argument("runs", nargs=-1, type=RUN, metavar="[RUN]...")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE", help="File to write.")
@click.option("--table", type=click.Choice(TABLES), default="samples", show_default=True, help="Which table of the store.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="Format of what is written [the ending of the file's name].")
@store_option
@json_option
def export_runs(runs: tuple[Path, ...], file: Path, table: str, form: str | None, store: Path, json_file: str | None) -> None:
    """Write a table of RUNS, or of the whole store: every sample, every case and launch, or every run."""
    output = Output(json_file)
    wanted = form or file.suffix.removeprefix(".")
    if wanted not in FORMATS:
        raise BadInput(f"--file {file}: its ending tells no format: use .{', .'.join(FORMATS)}, or give --format")
    rows = export(chosen(runs, store, output), table, wanted, file)
    output.console.print(f"{file}: {rows} rows", markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.export/1", "file": str(file), "table": table, "format": wanted, "rows": rows})


@click.command()
@click.argument("sql")
@store_option
@json_option
def query_runs(sql: str, store: Path, json_file: str | None) -> None:
    """Ask the store in SQL (DuckDB's) over the tables runs, cases and samples.

    Such as: select contender, param_halo, median(seconds) from samples group by all order by all
    """
    output = Output(json_file)
    columns, rows = query(chosen((), store, output), sql)
    shown = table_of(left=columns, overflow="fold")
    for row in rows:
        shown.add_row(*(escape("" if value is None else str(value)) for value in row))
    output.console.print(shown)
    output.document({"schema": "parhelion.query/1", "columns": columns, "rows": [list(row) for row in rows]})

"""`parhelion report`."""

from pathlib import Path

import click

from ..cli.output import Output, json_option
from ..records.store import RUN


@click.command()
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN...")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), default="report.html", show_default=True, metavar="FILE", help="Write the page.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), default="report.md", show_default=True, metavar="FILE", help="Write it in Markdown.")
@click.option("--published", is_flag=True, help="Show published figures of the same benchmark beside one's own.")
@json_option
def report(runs: tuple[Path, ...], html: Path, markdown: Path, published: bool, json_file: str | None) -> None:
    """Write one self-contained HTML page and the same tables in Markdown from runs: names in `runs/`, or folders."""
    from ..documents.document import bench_document
    from ..records import read_record
    from .write import write_report

    output = Output(json_file)
    records = [read_record(run) for run in runs]
    write_report(records, html, markdown, published)
    for path in (html, markdown):
        output.console.print(str(path.resolve()), markup=False, soft_wrap=True)
    files = {"html": str(html.resolve()), "markdown": str(markdown.resolve())}
    documents = [bench_document(record) for record in records]
    output.document({"schema": "parhelion.report/1", "files": files, "runs": documents})

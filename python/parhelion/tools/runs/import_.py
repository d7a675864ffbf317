"""`parhelion runs import`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..cli.options import RANKS, labels_option, out_option
from ..cli.output import Output, json_option
from ..documents.document import bench_document
from ..records.labels import parse_labels


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("-n", "--ranks", type=RANKS, help="Ranks [what the file says].")
@out_option
@labels_option
@json_option
def import_runs(
    files: tuple[Path, ...], ranks: int | None, out: Path | None, labels: tuple[str, ...], json_file: str | None
) -> None:
    """Make a run of what OSU Micro-Benchmarks or IMB have printed. Each FILE is one launch, so that
    several files of the same test can be compared with several others.
    """
    from .imported import import_files

    output = Output(json_file)
    record = import_files(files, out, parse_labels(labels), ranks, ["parhelion", *sys.argv[1:]])
    tests = len({line.name for line in record.cases})
    said = (
        f"{record.path.parent}: {len(record.cases)} figures of {tests} test{'s' if tests != 1 else ''} from {len(files)} file(s)"
    )
    output.console.print(said, markup=False, soft_wrap=True)
    output.document(bench_document(record))

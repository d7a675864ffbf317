"""`parhelion inspect`."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli.options import RANKS
from ..cli.output import Output, json_option


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("-n", "--ranks", type=RANKS, help="Ranks [any; sets for another number are refused].")
@json_option
def inspect(datasets: tuple[Path, ...], ranks: int | None, json_file: str | None) -> None:
    """Read and check index maps of either format, and say what they hold."""
    from .inspection import inspect as inspect_maps
    from .text import inspection_text

    output = Output(json_file)
    summaries = [inspect_maps(dataset, ranks) for dataset in datasets]
    for summary in summaries:
        output.console.print(inspection_text(summary), markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.inspection/1", "datasets": summaries})

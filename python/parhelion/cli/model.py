"""`parhelion model published`, `fit` and `predict`."""

from pathlib import Path
from typing import Any

import click

from .options import MOST_BYTES, MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_PLACED_RANKS, Numbers, Periodic, TOPOLOGY_HELP, Whole
from ..show.output import Output, json_option
from ..record.store import RUN

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Folder of the published CSV files.")
@click.option("--markdown", type=FILE, metavar="FILE", help="Write it in Markdown.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Folder for what this writes [no parameters are written].")
@json_option
def published(data: Path | None, markdown: Path | None, out: Path | None, json_file: str | None) -> None:
    """Fit the model to some of the published Betzy rows and check it on the others."""
    from ..place.model_page import run_published

    run_published(Output(json_file), data, markdown, out)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN...")
@click.option("--contender", default="mpi", show_default=True, help="Whose times.")
@click.option("--file", type=FILE, required=True, metavar="FILE", help="File to write.")
@json_option
def fit(runs: tuple[Path, ...], contender: str, file: Path, json_file: str | None) -> None:
    """Fit latency and bandwidth to the halo cases of runs that `parhelion bench halo` made."""
    from ..place.model_page import run_fit

    run_fit(Output(json_file), list(runs), contender, file)


@click.command()
@click.option("--parameters", type=FILE, required=True, metavar="FILE", help="Latency and bandwidth, as `model fit` or `model published` wrote them.")
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), required=True, metavar="PxQxR", help="Process grid.")
@click.option("--topology", required=True, metavar="TEXT", help=TOPOLOGY_HELP)
@click.option("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), metavar="N[,N…]", help="Ranks per node.")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64x64x64", show_default=True, help="Cells per rank, along each dimension.")
@click.option("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width in cells.")
@click.option("--fields", type=Whole(1, MOST_FIELDS), default=1, show_default=True, help="Number of fields.")
@click.option("--bytes-per-field", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Bytes per cell of one field.")
@click.option("--algorithm", type=click.Choice(["standard", "staged", "node_aware"]), default="standard", show_default=True,
              help="A message to every neighbor, dimension after dimension, or between nodes collected.")
@click.option("--periodic", type=Periodic(), default="yes", show_default=True, metavar="yes|no|yes,no,…", help="Whether opposite ends are neighbors.")
@json_option
def predict(json_file: str | None, **options: Any) -> None:
    """Predict an exchange in blocked order and as placed, and say what the time is spent on."""
    from ..place.model_page import run_predict

    run_predict(Output(json_file), **options)

"""`parhelion model published`, `fit` and `predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...tools.cli.options import MOST_BYTES, MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_PLACED_RANKS, Numbers, Whole
from ...tools.cli.output import Output, json_option

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Folder of the published CSV files.")
@click.option("--out", type=FILE, help="Write the page (Markdown) here.")
@click.option("--parameters", type=click.Path(path_type=Path, file_okay=False), help="Write one JSON per software here.")
@json_option
def published(data: Path | None, out: Path | None, parameters: Path | None, json_file: str | None) -> None:
    """Fit the model to some of the published Betzy rows and check it on the others."""
    from .run import run_published

    run_published(Output(json_file), data, out, parameters)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--contender", default="mpi_p2p", show_default=True, help="Whose times.")
@click.option("--out", type=FILE, required=True, help="Write the parameters (JSON) here.")
@json_option
def fit(runs: tuple[Path, ...], contender: str, out: Path, json_file: str | None) -> None:
    """Fit latency and bandwidth to the halo cases of runs that `parhelion bench halo` made."""
    from .run import run_fit

    run_fit(Output(json_file), list(runs), contender, out)


@click.command()
@click.option("--parameters", type=FILE, required=True, help="JSON that fit or published wrote, or given figures.")
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), required=True, metavar="AxBxC", help="Process grid.")
@click.option("--topology", required=True, metavar="TEXT", help="Such as 'node:27 pack:2 numa:4 l3:4 core:4'.")
@click.option("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), metavar="N[,N…]", help="For all nodes, or one number per node.")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64x64x64", show_default=True, help="Cells per rank.")
@click.option("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width in cells.")
@click.option("--fields", type=Whole(1, MOST_FIELDS), default=1, show_default=True, help="Number of fields.")
@click.option("--bytes-per-cell", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Of one field.")
@click.option("--algorithm", type=click.Choice(["standard", "staged"]), default="standard", show_default=True,
              help="A message to every neighbor, or dimension after dimension.")
@click.option("--not-periodic", is_flag=True, help="Domain with ends [periodic in every dimension].")
@json_option
def predict(json_file: str | None, **options: Any) -> None:
    """Predict an exchange in blocked order and as placed, and say what the time is spent on."""
    from .run import run_predict

    run_predict(Output(json_file), **options)

"""`parhelion simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...tools.cli.options import MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_PLACED_RANKS, MOST_REPETITIONS, SECONDS, Names, Numbers, Whole
from ...tools.cli.output import Output, json_option

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--topology", default="node:27 pack:2 numa:4 l3:4 core:4", show_default=True, metavar="TEXT", help="Levels of the machine.")
@click.option("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), default="64,128", show_default=True, help="One study for each number.")
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), metavar="AxBxC", help="Process grid [the published one, or a chosen one].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=3), default="64x64x64", show_default=True, help="Cells per rank.")
@click.option("--halo", type=Numbers(high=MOST_HALO), default="1,5", show_default=True, help="Halo widths.")
@click.option("--fields", type=Numbers(high=MOST_FIELDS), default="1,8", show_default=True, help="Numbers of fields (float32).")
@click.option("--all-pairs", is_flag=True, help="Every halo width with every number of fields [in turn: 1 with 1, 5 with 8].")
@click.option("--numbering", type=Names(), default="XYZ,ZYX", show_default=True, help="Numberings of the placement.")
@click.option("--parameters", type=FILE, help="Latency and bandwidth [fitted to published rows of 64 ranks a node].")
@click.option("--iterations", type=Whole(1, MOST_REPETITIONS), default=2, show_default=True, help="Exchanges that are timed, after one.")
@click.option("--check", is_flag=True, help="Compare every ghost with its value; for small runs, needs real memory.")
@click.option("--plot", type=FILE, help="Picture: .svg, .png or .pdf.")
@click.option("--build", type=click.Path(path_type=Path, file_okay=False), help="Where the program is built.")
@click.option("--no-build", is_flag=True, help="Take the program that is there.")
@click.option("--timeout", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS",
              help="For one start of the simulated ranks.")
@json_option
def simulate(json_file: str | None, **options: Any) -> None:
    """Run the real exchange on a described machine under SimGrid: blocked order against placement.

    Every rank runs the unchanged library code over mpi_p2p; SimGrid decides how long its messages take. The table
    stands beside the published speed-ups where the machine is the published one.
    """  # fmt: skip
    from .run import run_simulate

    run_simulate(Output(json_file), **options)

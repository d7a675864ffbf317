"""`parhelion model simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_PLACED_RANKS, MOST_REPETITIONS, Names, Numbers, Real, SECONDS, TOPOLOGY_HELP, Whole
from ..show.output import Output, json_option
from .lazy import PanelCommand, options_of

FILE = click.Path(path_type=Path, dir_okay=False)
RUNNING, OUTPUT = map(options_of, ("Simulation", "Output"))


@click.command(cls=PanelCommand)
@click.option("--topology", default="node:27 pack:2 numa:4 l3:4 core:4", show_default=True, metavar="TEXT", help=TOPOLOGY_HELP)
@click.option("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), default="64,128", show_default=True, metavar="N[,N…]", help="Ranks per node [one study for each number].")
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), metavar="PxQxR", help="Process grid [the published one, or a chosen one].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=3), default="64x64x64", show_default=True, help="Cells per rank, along each dimension.")
@click.option("--halo", type=Numbers(high=MOST_HALO), default="1,5", show_default=True, help="Halo width in cells.")
@click.option("--fields", type=Numbers(high=MOST_FIELDS), default="1,8", show_default=True, help="Number of fields [float32].")
@click.option("--all-pairs", is_flag=True, help="Every halo width with every number of fields [in turn: 1 with 1, 5 with 8].")
@click.option("--numberings", type=Names(), default="XYZ,ZYX", show_default=True, help="Numberings of ranks, the fastest dimension first.")
@click.option("--contenders", type=Names(), default="mpi", show_default=True, metavar="NAME[,NAME]",
              help="Only these: mpi, a message for each pair of ranks; node_aware, between nodes collected.")
@click.option("--maps", type=click.Path(path_type=Path, exists=True), metavar="MAPS", help="Instead of a grid: index maps of `partition`, of as many parts as ranks.")
@click.option("--parameters", type=FILE, metavar="FILE",
              help="Latency and bandwidth, as `model fit` or `model published` wrote them [fitted to published rows of 64 ranks a node].")
@click.option("--overhead", type=Real(0, 1000), default=0.0, show_default=True, metavar="MICROSECONDS",
              help="Time of a rank that each message takes at both ends, beside its latency.")
@RUNNING("--iterations", type=Whole(1, MOST_REPETITIONS), default=2, show_default=True, help="Exchanges that are timed, after one.")
@RUNNING("--verify", is_flag=True, help="Compare every ghost with its value; for small runs, needs real memory.")
@OUTPUT("--picture", type=FILE, metavar="FILE", help="Draw a picture: .svg, .png or .pdf.")
@RUNNING("--build", type=click.Path(path_type=Path, file_okay=False), help="Where the program is built.")
@RUNNING("--no-build", is_flag=True, help="Take the program that is there.")
@RUNNING("--timeout", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS",
              help="Stop ranks after so long.")
@json_option
def simulate(json_file: str | None, **options: Any) -> None:
    """Run the real exchange on a described machine under SimGrid: blocked order against placement.

    Every rank runs the unchanged library code; SimGrid decides how long its messages take. The table stands beside the published
    speed-ups where the machine is the published one.
    """  # fmt: skip
    from ..place.simulated_run import run_simulate

    run_simulate(Output(json_file), **options)

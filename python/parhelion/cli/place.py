"""`parhelion place`."""

from pathlib import Path
from typing import Any

import click

from .options import MOST_BYTES, MOST_EXTENT, MOST_HALO, MOST_NODES, MOST_PLACED_RANKS, Names, Numbers, Periodic, TOPOLOGY_HELP, Whole
from ..show.output import Output, json_option
from .lazy import PanelCommand, options_of

FILE = click.Path(path_type=Path, dir_okay=False)
MACHINE, WEIGHTS, SEARCH, OUTPUT = map(options_of, ("Machine", "Weights of neighbors", "Search", "Output"))


@click.command(cls=PanelCommand)
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), metavar="PxQxR", help="Process grid [chosen for --cells].")
@click.option("--cells", type=Numbers(most=4), metavar="PxQxR", help="Global cells, to have the process grid chosen.")
@click.option("--graph", type=click.Path(path_type=Path), metavar="DATASET|FILE",
              help="Parts of a mesh instead of a grid: a data set of `parhelion partition`, or a graph file of METIS.")
@MACHINE("--nodes", type=Whole(1, MOST_NODES), help="Number of nodes.")
@MACHINE("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), metavar="N[,N…]", help="Ranks per node.")
@MACHINE("--topology", metavar="TEXT", help=TOPOLOGY_HELP)
@MACHINE("--binding", type=click.Choice(["spread", "compact"]), default="spread", show_default=True,
              help="A node's ranks over all of its parts, or on its first cores.")
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="faces", show_default=True,
              help="Neighbors across edges and corners too, or faces only.")
@click.option("--offsets", metavar="'0,1;0,-1;…'", help="Any stencil, instead of --neighbors.")
@click.option("--periodic", type=Periodic(), default="no", show_default=True, metavar="yes|no|yes,no,…", help="Whether opposite ends are neighbors.")
@WEIGHTS("--weights", type=Numbers(high=MOST_BYTES, most=4), metavar="W,W,W", help="Bytes across a face, per dimension.")
@WEIGHTS("--extent", type=Numbers(high=MOST_EXTENT, most=4), help="Cells per rank, along each dimension [not told; offsets are weighed by halo bytes with it].")
@WEIGHTS("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width in cells.")
@WEIGHTS("--bytes-per-cell", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Bytes per cell, of all fields together.")
@SEARCH("--objective", type=click.Choice(["jsum", "jmax"]), default="jsum", show_default=True,
              help="What leaves all units together, or the worst of them.")
@SEARCH("--parameters", type=FILE, metavar="FILE",
              help="Latency and bandwidth, as `model fit` or `model published` wrote them: take what is predicted to last shortest, with messages "
                   "between nodes collected.")
@SEARCH("--method", default="", metavar="MEMBER", help="One member of the portfolio as it is, such as blocked.")
@SEARCH("--no-refine", is_flag=True, help="Take the best member of the portfolio as it is.")
@SEARCH("--blocks", metavar="'node:3x3x3 socket:1x1x2 …'", help="By hand, level by level, as published.")
@SEARCH("--numbering", default="", metavar="XYZ", help="Numbering of ranks, the fastest dimension first [last dimension fastest].")
@OUTPUT("--layers", type=click.Choice(["yes", "no", "auto", "hwcart"]), default="auto", show_default=True,
              help="Print every level's rank cube; auto: of at most 256 points; hwcart: with its level names.")
@OUTPUT("--picture", type=FILE, multiple=True, metavar="FILE", help="Draw a picture: .svg, .png or .pdf.")
@OUTPUT("--rank-file", "rank_files", multiple=True, metavar="KIND:FILE", help="For mpich, openmpi, intel, slurm.")
@OUTPUT("--host-names", "hosts", type=Names(), default=(), help="Names of the nodes, for rank files.")
@json_option
def place(json_file: str | None, **options: Any) -> None:
    """Put the process grid onto the machine and say what leaves each level.

    Prints the scores of all members of the portfolio (Jsum: directed stencil edges that leave a unit, over all units;
    Jmax: the most that leave one) and what goes between nodes, and writes pictures and rank files. With --json the document holds the grid, the
    node of every grid point (last dimension fastest) and all scores.
    """  # fmt: skip
    from ..place.run import run_place

    run_place(Output(json_file), **options)

"""`parhelion place`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..cli.options import MOST_BYTES, MOST_EXTENT, MOST_HALO, MOST_NODES, MOST_PLACED_RANKS, Names, Numbers, Whole
from ..cli.output import Output, json_option

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--grid", type=Numbers(high=MOST_PLACED_RANKS, most=4), metavar="AxBxC", help="Process grid; its product is the number of ranks.")
@click.option("--cells", type=Numbers(most=4), metavar="AxBxC", help="Global cells, to have the process grid chosen.")
@click.option("--nodes", type=Whole(1, MOST_NODES), help="Number of nodes.")
@click.option("--ranks-per-node", type=Numbers(high=MOST_PLACED_RANKS), metavar="N[,N…]", help="For all nodes, or one number per node.")
@click.option("--topology", metavar="TEXT", help="Such as 'node:27 pack:2 numa:4 l3:4 core:4', xml:FILE (hwloc), here.")
@click.option("--binding", type=click.Choice(["spread", "compact"]), default="spread", show_default=True,
              help="A node's ranks over all of its parts, or on its first cores.")
@click.option("--stencil", type=click.Choice(["faces", "full"]), default="faces", show_default=True, help="Neighbors across faces only, or edges and corners too.")
@click.option("--offsets", metavar="'0,1;0,-1;…'", help="Any stencil, instead of --stencil.")
@click.option("--periodic", is_flag=True, help="In every dimension.")
@click.option("--periodic-along", type=Numbers(low=0, high=3), help="In these dimensions only, counted from 0.")
@click.option("--weights", type=Numbers(high=MOST_BYTES, most=4), metavar="W,W,W", help="Bytes across a face, per dimension.")
@click.option("--cells-per-rank", type=Numbers(high=MOST_EXTENT, most=4), metavar="AxBxC", help="To weigh offsets by their halo bytes.")
@click.option("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width in cells, for bytes.")
@click.option("--bytes-per-cell", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Of all fields together.")
@click.option("--objective", type=click.Choice(["jsum", "jmax"]), default="jsum", show_default=True,
              help="What leaves all units together, or the worst of them.")
@click.option("--method", default="", metavar="MEMBER", help="One member of the portfolio as it is, such as blocked.")
@click.option("--no-refine", is_flag=True, help="Take the best member of the portfolio as it is.")
@click.option("--blocks", metavar="'node:3x3x3 socket:1x1x2 …'", help="By hand, level by level, as published.")
@click.option("--numbering", default="", metavar="XYZ", help="Fastest dimension first [last dimension fastest].")
@click.option("--layers", type=click.Choice(["yes", "no", "auto", "hwcart"]), default="auto", show_default=True,
              help="Print every level's rank cube; auto: of at most 256 points; hwcart: with its level names.")
@click.option("--draw", type=FILE, multiple=True, help="Picture: .svg, .png or .pdf.")
@click.option("--rank-file", "rank_files", multiple=True, metavar="KIND:FILE", help="For mpich, openmpi, intel, slurm.")
@click.option("--hosts", type=Names(), default=(), help="Names of the nodes, for rank files.")
@json_option
def place(json_file: str | None, **options: Any) -> None:
    """Put the process grid onto the machine and say what leaves each level.

    Prints the scores of all members of the portfolio (Jsum: directed stencil edges that leave a unit, over all units;
    Jmax: the most that leave one), and writes pictures and rank files. With --json the document holds the grid, the
    node of every grid point (last dimension fastest) and all scores.
    """  # fmt: skip
    from .run import run_place

    run_place(Output(json_file), **options)

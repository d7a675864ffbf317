"""`parhelion bench ghosts`."""

from __future__ import annotations

from typing import Any

import click

from ...cli.options import MOST_COMPONENTS, MOST_RANKS, RANKS, Elements, Numbers, Whole, measuring_options


@click.command()
@click.option("--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--grid", type=Numbers(high=MOST_RANKS, most=3), metavar="PxQxR", help="Process grid, periodic [as cubic as it gets].")
@click.option("--extent", type=Whole(1, 1024), default=32, show_default=True, help="Cells per side of a rank's block.")
@click.option("--vdim", type=Numbers(high=MOST_COMPONENTS), default="6,20,120", show_default=True, help="Numbers per row.")
@click.option("--element", type=Elements(), default="float64", show_default=True, help="Element types.")
@click.option("--pattern", type=click.Choice(["faces", "all-from-one"]), default="faces", show_default=True,
              help="Rows of the six neighbors, or all of rank 0's, as the published script really did.")
@measuring_options
def ghosts(**options: Any) -> None:
    """Row arrays with ghosts, driven from Python on every rank, beside the published way and mpi4py by hand.

    Every rank has a block of 32³ rows and pulls those beyond its six faces: 6,144 claimed, of which each one that another
    rank owns moves once. Every value is verified.
    """  # fmt: skip
    from ..run import run
    from .cases import MODULE, check_contenders, ghosts_group

    cases = ("ranks", "grid", "extent", "vdim", "element", "pattern")
    group = ghosts_group(**{name: options.pop(name) for name in cases})
    check_contenders(options["contenders"])
    run("ghosts", [group], module=MODULE, **options)

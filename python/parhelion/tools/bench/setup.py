"""`parhelion bench setup`."""

from __future__ import annotations

from typing import Any

import click

from ...cli.options import MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_RANKS, Elements, Names, Numbers, Whole, measuring_options


@click.command()
@click.option("--ranks", type=Numbers(high=MOST_RANKS), help="Rank counts [powers of two up to 8, or to the usable cores if more].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64", show_default=True, help="Cells per rank and dimension.")
@click.option("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width.")
@click.option("--fields", type=Whole(1, MOST_FIELDS), default=1, show_default=True, help="Number of fields.")
@click.option("--element", type=Elements(), default="float32", show_default=True, help="Element types.")
@click.option("--transport", type=Names(), default="auto,mpi_persistent", show_default=True, help="Whose plan is made.")
@measuring_options
def setup(**options: Any) -> None:
    """What comes before the first exchange, as the number of ranks grows: MPI_Init, communicator, pattern, plan, first exchange.

    Each repetition sets everything up anew on a fresh duplicate of the world, and verifies the exchange. Stages stand in
    the table where contenders stand elsewhere, and --contenders chooses among them.
    """  # fmt: skip
    from ..run import run
    from .cases import setup_groups

    cases = ("ranks", "extent", "halo", "fields", "element", "transport")
    groups = setup_groups(**{name: options.pop(name) for name in cases})
    run("setup", groups, **options, usual_repetitions=10)

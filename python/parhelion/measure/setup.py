"""`parhelion bench setup`."""

from itertools import product
from typing import Any

import click

from ..launch import usable_cores
from ..cli.options import ELEMENT_NAMES, MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_RANKS, MeasuringOptions, Names, Numbers, Whole, measuring_options
from ..cli.options import PanelCommand
from .launcher import launched_ranks
from .measurement import Group
from .halo import halo_group

USUAL_MOST = 8


@click.command(cls=PanelCommand)
@click.option("-n", "-np", "--ranks", type=Numbers(high=MOST_RANKS), help="Ranks [powers of two up to 8, or to the usable cores if more].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64", show_default=True, help="Cells per rank, along each dimension.")
@click.option("--halo", type=Whole(1, MOST_HALO), default=1, show_default=True, help="Halo width in cells.")
@click.option("--fields", type=Whole(1, MOST_FIELDS), default=1, show_default=True, help="Number of fields.")
@click.option("--element", type=ELEMENT_NAMES, default="float32", show_default=True, help="Element type.")
@click.option("--transport", type=Names(), default="auto,mpi", show_default=True, help="What moves the data: whose plans are made.")
@measuring_options
def setup(options: MeasuringOptions, ranks: tuple[int, ...] | None, transport: tuple[str, ...], halo: int, fields: int, **grid: Any) -> None:
    """What comes before the first exchange, as the number of ranks grows: MPI_Init, communicator, pattern, plan, first exchange.

    Each repetition sets everything up anew on a fresh duplicate of the world, and verifies the exchange. Stages stand in
    the table where contenders stand elsewhere, and --contenders chooses among them.
    """  # fmt: skip
    from .run import run

    groups = [halo_group(count, halo=(halo,), fields=(fields,), **grid) for count in dict.fromkeys(ranks or _usual_ranks())]
    groups = [Group(each.ranks, [{**case, "transport": way} for case, way in product(each.cases, transport)]) for each in groups]
    run("setup", groups, options, usual_repetitions=10)


def _usual_ranks() -> tuple[int, ...]:
    """1, 2, 4, … up to 8, or to the usable cores where there are more; what a launcher decided, if one did."""
    decided = launched_ranks()
    if decided:
        return (decided,)
    most = max(USUAL_MOST, usable_cores())
    return tuple(2**power for power in range(most.bit_length()) if 2**power <= most)

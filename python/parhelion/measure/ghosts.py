"""`parhelion bench ghosts`."""

from itertools import product

import click

from ..cli.errors import BadInput
from ..cli.options import ELEMENT_NAMES, MOST_COMPONENTS, MOST_RANKS, MeasuringOptions, Numbers, RANKS, Whole, measuring_options, per_node_option
from ..cli.options import PanelCommand
from .measurement import Group
from .cases import ELEMENT_BYTES, balanced_grid, check_memory, ranks_on_grid
from .ghosts_program.contenders import ALL

MODULE = "parhelion.measure.ghosts_program"
ARRAYS_AT_ONCE = 9  # one for each contender


@click.command(cls=PanelCommand)
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--grid", type=Numbers(high=MOST_RANKS, most=3), metavar="PxQxR", help="Process grid [as cubic as it gets].")
@click.option("--extent", type=Whole(1, 1024), default=32, show_default=True, help="Cells per rank, along each dimension.")
@click.option("--vdim", type=Numbers(high=MOST_COMPONENTS), default="6,20,120", show_default=True, help="Numbers per row.")
@click.option("--element", type=ELEMENT_NAMES, default="float64", show_default=True, help="Element type.")
@click.option("--pattern", type=click.Choice(["faces", "all-from-one"]), default="faces", show_default=True,
              help="Rows of the six neighbors, or all of rank 0's, as the published script really did.")
@per_node_option
@measuring_options
def ghosts(
    options: MeasuringOptions,
    ranks: int | None,
    grid: tuple[int, ...] | None,
    extent: int,
    vdim: tuple[int, ...],
    element: tuple[str, ...],
    pattern: str,
    per_node: bool,
) -> None:
    """Row arrays with ghosts, driven from Python on every rank, beside the published way and mpi4py by hand.

    Every rank has a block of 32³ rows and pulls those beyond its six faces: 6,144 claimed, of which each one that another
    rank owns moves once. Every value is verified.
    """  # fmt: skip
    from .run import run

    count = ranks_on_grid(ranks, grid)
    sides = list(grid or balanced_grid(count, 3))
    sides += [1] * (3 - len(sides))
    rows = count * (extent**3 + 6 * extent**2) * ARRAYS_AT_ONCE
    check_memory(rows * max(vdim) * max(ELEMENT_BYTES[kind] for kind in element), "the arrays take", "use a smaller --extent or --vdim")
    for name in options.contenders:
        if name not in ALL:
            raise BadInput(f"--contenders {name}: there are {', '.join(ALL)}")
    cases = [{"grid": sides, "extent": extent, "vdim": each, "element": kind, "pattern": pattern}
             for kind, each in product(element, vdim)]  # fmt: skip
    run("ghosts", [Group(count, cases)], options, module=MODULE, per_node=per_node)

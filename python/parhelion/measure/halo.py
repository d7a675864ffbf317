"""`parhelion bench halo`."""

import math
from itertools import product
from typing import Any

import click

from ..cli.errors import BadInput
from ..cli.options import (
    ELEMENT_NAMES,
    MOST_COMPONENTS,
    MOST_EXTENT,
    MOST_FIELDS,
    MOST_HALO,
    MOST_RANKS,
    MeasuringOptions,
    Numbers,
    Periodic,
    RANKS,
    measuring_options,
    per_node_option,
)
from ..cli.options import PanelCommand, options_of
from .measurement import Group
from .cases import ELEMENT_BYTES, PLUG_INS, Peers, balanced_grid, check_memory, contenders_of, ranks_on_grid

DIMENSIONS = 3
PEERS = tuple(PLUG_INS["halo"])
WORK = options_of("Work between begin and end")


@click.command(cls=PanelCommand)
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--grid", type=Numbers(high=MOST_RANKS, most=4), metavar="PxQxR", help="Process grid [as cubic as it gets].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64", show_default=True, help="Cells per rank, along each dimension.")
@click.option("--halo", type=Numbers(high=MOST_HALO), default="1,2,4,5", show_default=True, help="Halo width in cells.")
@click.option("--fields", type=Numbers(high=MOST_FIELDS), default="1,2,4,8", show_default=True, help="Number of fields.")
@click.option("--element", type=ELEMENT_NAMES, default="float32", show_default=True, help="Element type.")
@click.option("--components", type=Numbers(high=MOST_COMPONENTS), default="1", show_default=True, help="Components per cell.")
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="full", show_default=True,
              help="Neighbors across edges and corners too, or faces only.")
@click.option("--order", type=click.Choice(["F", "C"]), default="F", show_default=True, help="Order in memory.")
@click.option("--periodic", type=Periodic(), default="yes", show_default=True, metavar="yes|no|yes,no,…", help="Whether opposite ends are neighbors.")
@WORK("--overlap", type=click.FloatRange(0, 1e6, min_open=True), metavar="WORK",
      help="Begin and end each exchange around so many microseconds of work, which do not count.")
@WORK("--uneven", type=click.FloatRange(0, 0.95), default=0, metavar="SHARE",
      help="With --overlap: the first rank works less by this share of it, the last more, the others between.")
@click.option("--peers", type=Peers(PEERS), default=(), metavar="NAMES",
              help=f"Other libraries beside the rest: {', '.join(PEERS)}, as `make peers` builds them.")
@per_node_option
@measuring_options
def halo(options: MeasuringOptions, peers: tuple[str, ...], per_node: bool, **cases: Any) -> None:
    """Halo exchange of a structured grid beside hand-written MPI, every ghost verified.

    The default is the published case: 64³ cells of float32 per rank, full halo, 16 cells of halo width × fields.
    """  # fmt: skip
    from .run import run

    run("halo", [halo_group(**cases)], options.beside(contenders_of("halo", peers)), per_node=per_node)


def halo_group(
    ranks: int | None,
    grid: tuple[int, ...] | None = None,
    extent: tuple[int, ...] = (64,),
    halo: tuple[int, ...] = (1,),
    fields: tuple[int, ...] = (1,),
    element: tuple[str, ...] = ("float32",),
    components: tuple[int, ...] = (1,),
    neighbors: str = "full",
    order: str = "F",
    periodic: bool | tuple[bool, ...] = True,
    overlap: float | None = None,
    uneven: float = 0,
) -> Group:
    """One case per combination, all on one process grid; checked before anything is started."""
    count, process_grid, cells = _shape(ranks, grid, extent)
    widest = max(halo)
    if widest > min(cells):
        raise BadInput(f"--halo {widest} exceeds the local extent {min(cells)}: use a halo of at most {min(cells)} or more cells")
    bytes_per_cell = max(fields) * max(components) * max(ELEMENT_BYTES[kind] for kind in element)
    needed = count * math.prod(side + 2 * widest for side in cells) * bytes_per_cell
    check_memory(needed, "the fields take", "use a smaller --extent or fewer --fields")
    if uneven and not overlap:
        raise BadInput("--uneven tells how unequal the work of --overlap is: give both, or neither")
    fixed: dict[str, Any] = {"neighbors": neighbors, "periodic": periodic if isinstance(periodic, bool) else Periodic.along(periodic, len(process_grid)), "order": order}
    if overlap:
        fixed |= {"work_us": overlap, "uneven": uneven}
    cases = [
        {"grid": process_grid, "extent": cells, "halo": width, "fields": number, "element": kind, "components": each} | fixed
        for kind, each, width, number in product(element, components, halo, fields)
    ]
    return Group(count, cases)


def _shape(ranks: int | None, grid: tuple[int, ...] | None, extent: tuple[int, ...]) -> tuple[int, list[int], list[int]]:
    dimensions = len(grid) if grid else len(extent) if len(extent) > 1 else DIMENSIONS
    if len(extent) not in (1, dimensions):
        raise BadInput(f"--extent has {len(extent)} numbers, the process grid has {dimensions}: give one, or as many")
    count = ranks_on_grid(ranks, grid)
    return count, list(grid or balanced_grid(count, dimensions)), list(extent if len(extent) > 1 else extent * dimensions)

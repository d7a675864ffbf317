"""`parhelion demo`."""

from __future__ import annotations

from pathlib import Path

import click

from .options import RANKS, Whole
from .output import Output, json_option

CELLS = 200_000
HALO_WIDTHS, FIELDS = (1, 2, 5), (1, 8)
GATHERS = (("int32", 1), ("float64", 8))


@click.command()
@click.option("--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--mpi", "flavor", metavar="FLAVOR", help="Which build to run [the one built last].")
@click.option("--cells", type=Whole(5_000, 50_000_000), default=CELLS, show_default=True, help="Of the mesh.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", show_default=True, help="For the report.")
@json_option
def demo(ranks: int | None, flavor: str | None, cells: int, out: Path, json_file: str | None) -> None:
    """Measure the main job on this machine: halo exchange and gather on a mesh, beside hand-written MPI.

    Ends with a table and with report.html.
    """
    from .demo_run import run_demo

    run_demo(ranks, flavor, cells, out, Output(json_file))

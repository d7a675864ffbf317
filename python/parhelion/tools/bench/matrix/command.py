"""`parhelion matrix`."""

from pathlib import Path

import click

from ...cli.lazy import LazyGroup
from ...cli.options import Names
from ..group import BENCHMARKS


@click.group(cls=LazyGroup, table=BENCHMARKS)
@click.option("--flavors", type=Names(), default=(), help="Which builds to run [mpich, openmpi, impi, and whatever else is built].")
@click.option("--networks", type=Names(), default=(), help="Networks [all: default, shm, ofi, ofi-noshm, ucx, ucx-noshm, tcp].")
@click.option("--report", "report_dir", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Where report.html and report.md go [the run folder].")
@click.pass_context
def matrix(context: click.Context, flavors: tuple[str, ...], networks: tuple[str, ...], report_dir: Path | None) -> None:
    """Run one benchmark under several MPIs, each over several networks, interleaved, into one run and one report.

    \b
    parhelion matrix alltoall --quick --ranks 2 --size 1,1K,64K
    parhelion matrix --flavors mpich,openmpi --networks ucx,ofi halo --halo 1

    What follows the benchmark's name are its own options. Combinations take turns in an order drawn anew for each round. What
    a combination cannot do here is a row with its reason.
    """  # fmt: skip
    from .request import MatrixRequest

    context.obj = MatrixRequest.checked(flavors, networks, report_dir)

"""`parhelion bench`, the group of measurements, and `parhelion matrix`: one of them under every combination of MPI and network."""

from pathlib import Path

import click

from ..cli.lazy import LazyGroup
from ..cli.options import Names

BENCHMARKS = {
    "halo": ("parhelion.tools.bench.halo", "halo", "Halo exchange of a structured grid beside hand-written MPI."),
    "ghosts": ("parhelion.tools.bench.ghosts", "ghosts", "Row arrays with ghosts from Python, the published way beside."),
    "gather": ("parhelion.tools.bench.gather.command", "gather", "Index-map gather on partitioned meshes beside hand-written MPI."),
    "alltoall": ("parhelion.tools.bench.alltoall", "alltoall", "MPI_Alltoall over message sizes, beside other ways to do it."),
    "apps": ("parhelion.tools.bench.apps", "apps", "Whole applications with hand-written exchange and with the library's."),
    "setup": ("parhelion.tools.bench.setup", "setup", "MPI_Init, communicator, pattern, plan, first exchange, as ranks grow."),
}


@click.group(cls=LazyGroup, table=BENCHMARKS)
def bench() -> None:
    """Measure. Every value is verified, every sample is kept; a crash loses no finished case."""


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
    from .matrix import MatrixRequest

    context.obj = MatrixRequest.checked(flavors, networks, report_dir)

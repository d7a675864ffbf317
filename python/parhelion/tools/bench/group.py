"""`parhelion bench`: the group of measurements."""

import click

from ..cli.lazy import LazyGroup

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

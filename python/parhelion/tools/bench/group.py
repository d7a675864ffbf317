"""`parhelion bench`: the group of measurements."""

from __future__ import annotations

import click

from .lazy import LazyGroup

BENCHMARKS = {
    "halo": (".bench_halo", "halo", "Halo exchange of a structured grid beside hand-written MPI."),
    "ghosts": (".bench_ghosts", "ghosts", "Row arrays with ghosts from Python, the published way beside."),
    "gather": (".bench_gather", "gather", "Index-map gather on partitioned meshes beside hand-written MPI."),
    "alltoall": (".bench_alltoall", "alltoall", "MPI_Alltoall over message sizes, beside other ways to do it."),
    "setup": (".bench_setup", "setup", "MPI_Init, communicator, pattern, plan, first exchange, as ranks grow."),
}


@click.group(cls=LazyGroup, table=BENCHMARKS)
def bench() -> None:
    """Measure. Every value is verified, every sample is kept; a crash loses no finished case."""

"""`parhelion bench`, the group of measurements: one of them, or one under every combination of MPI and network."""

from pathlib import Path

import click

from .main import LazyGroup
from .options import Names

BENCHMARKS = {
    "halo": ("parhelion.measure.halo", "halo", "Halo exchange of a structured grid beside hand-written MPI."),
    "ghosts": ("parhelion.measure.ghosts", "ghosts", "Row arrays with ghosts from Python, the published way beside."),
    "gather": ("parhelion.measure.gather", "gather", "Index-map gather on partitioned meshes beside hand-written MPI."),
    "alltoall": ("parhelion.measure.alltoall", "alltoall", "MPI_Alltoall over message sizes, beside other ways to do it."),
    "apps": ("parhelion.measure.apps", "apps", "Whole applications with hand-written exchange and with the library's."),
    "setup": ("parhelion.measure.setup", "setup", "MPI_Init, communicator, pattern, plan, first exchange, as ranks grow."),
    "image": ("parhelion.cli.image", "run_image", "A software image as a whole: all of these, profiles, libraries."),
}


@click.group(cls=LazyGroup, table=BENCHMARKS)
@click.option("--flavors", type=Names(), default=(), help="Under each of these builds, or all [one; with --networks all].")
@click.option("--networks", type=Names(), default=(), help="Over each: of default, shm, ofi, ofi-noshm, ucx, ucx-noshm, tcp, or all [what the MPI takes; with --flavors all].")
@click.option("--report", "report_dir", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Where report.html and report.md over several go [the run folder].")
@click.pass_context
def bench(context: click.Context, flavors: tuple[str, ...], networks: tuple[str, ...], report_dir: Path | None) -> None:
    """Measure. Every value is verified, every sample is kept; a crash loses no finished case.

    \b
    parhelion bench halo
    parhelion bench --flavors mpich,openmpi --networks ucx,ofi halo --halo 1
    parhelion bench --networks all alltoall --quick --ranks 2 --size 1,1K,64K

    What follows the benchmark's name are its own options. With --flavors or --networks it runs under each combination, interleaved,
    into one run and one report; what a combination cannot do here is a row with its reason.
    """  # fmt: skip
    from ..measure.matrix import MatrixRequest

    if flavors or networks:
        context.obj = MatrixRequest.checked(flavors, networks, report_dir)

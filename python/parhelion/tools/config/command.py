"""`parhelion config`."""

from collections.abc import Callable

import click

from .facts import OPTIONS, answer


def _flags(command: Callable) -> Callable:
    for name, about in reversed(OPTIONS.items()):
        command = click.option(f"--{name}", is_flag=True, help=about)(command)
    return command


@click.command()
@_flags
@click.option("--flavor", "flavor", metavar="FLAVOR", help="Which build [that of the MPI that mpi4py is bound to].")
def config(flavor: str | None, **asked: bool) -> None:
    """Say where headers, library and files for CMake and pkg-config are.

    Compile with the wrapper of your MPI: mpicxx -std=c++20 $(parhelion config --cflags) solver.cpp $(parhelion config --libs)
    """
    click.echo(answer([name for name, wanted in asked.items() if wanted], flavor))

"""`parhelion run` and `config`, which need no package but click beside the library's."""

import sys
from collections.abc import Callable
from typing import Any

import click

from ..launch.flavor import MOST_RANKS
from .options import PanelCommand, options_of
from .options import Real, SECONDS, Whole
from .facts import OPTIONS, answer

RANKS, EXCHANGES, HOSTS, OUTPUT = map(options_of, ("Ranks", "Exchanges", "Hosts that this machine pretends to be", "Output"))


class Text(click.ParamType):
    """A word that is not empty."""

    def __init__(self, name: str = "text") -> None:
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            self.fail("nothing is given: name one, or leave the option out", param, ctx)
        return str(value)


@click.command(cls=PanelCommand, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
@RANKS("-n", "-np", "--ranks", type=Whole(1, MOST_RANKS), metavar="N", help="Ranks [tasks of the Slurm job].")
@RANKS("--flavor", type=Text(), metavar="FLAVOR", help="Which build [the one for the program's own MPI; for Python the one built last].")
@RANKS("--launcher", type=Text(), metavar="COMMAND", help="What starts the ranks, as it is, such as 'srun --mpi=cray_shasta': sets PARHELION_LAUNCHER.")
@RANKS("--timeout", type=SECONDS, metavar="SECONDS", help="Stop ranks after so long: exit status 124.")
@RANKS("--no-bind", is_flag=True, help="Leave the ranks unbound.")
@RANKS("--option", type=Text(), multiple=True, metavar="WORD", help="For the launcher as it is, such as --option=-l; may be repeated.")
@EXCHANGES("--transport", type=Text("names"), metavar="NAME", help="What moves the data: such as shared+mpi; sets PARHELION_TRANSPORT.")
@EXCHANGES("--neighbor-timeout", type=Real(0.001, 10_000_000), metavar="SECONDS",
           help="A longer wait for neighbors is an error that says who did not answer: sets PARHELION_TIMEOUT.")
@EXCHANGES("--check", is_flag=True, help="Neighbors compare their calls: sets PARHELION_CHECK.")
@HOSTS("--on-hosts", type=Whole(2, 16), metavar="N", help="On so many, each with a name, network, processes and shared memory of its own.")
@HOSTS("--once", is_flag=True, help="PROGRAM itself on the first host, not ranks of it; what it starts with parhelion is spread over all hosts.")
@HOSTS("--latency", type=Real(0, 1000), default=0, metavar="MS", help="Milliseconds added to every packet [0].")
@HOSTS("--bandwidth", type=Real(0.001, 1000), metavar="GBIT/S", help="Limit of each host's cable, each way, in Gbit/s [none].")
@OUTPUT("--profile", is_flag=True, help="Sample the ranks, as `parhelion profile run` does, and say where the time went.")
@OUTPUT("-v", "--verbose", is_flag=True, help="Show the launcher's command line, and what was set.")
def run(program: tuple[str, ...], **wanted: Any) -> None:
    """Start PROGRAM as ranks, under the MPI that it is built for, bound to cores.

    \b
    parhelion run -n 4 solver.py
    parhelion run -n 4 ./solver input.txt
    parhelion run --on-hosts 2 -n 4 --transport ucx ./solver
    parhelion run --on-hosts 2 --once parhelion bench halo --ranks 2

    The MPI: that of a compiled program is the one that it is linked to; programs in Python get that of a build. The launcher: srun inside
    an allocation of Slurm, else that MPI's mpiexec, on the hosts of PBS, LSF or PARHELION_HOSTS. An exception on one rank of a Python
    program ends all ranks. Options go before PROGRAM. Exit status: the program's; 2 where it cannot be started so.
    """
    from ..launch.start import Wanted, start

    sys.exit(start(Wanted(list(program), **wanted)))


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

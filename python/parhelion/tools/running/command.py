"""`parhelion run`."""

from __future__ import annotations

import sys

import click

from ...launch.flavor import MOST_RANKS
from ..cli.options import MOST_SECONDS, SECONDS, Name, Real, Whole


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
@click.option("-n", "--ranks", type=Whole(1, MOST_RANKS), help="Ranks [tasks of the Slurm job].")
@click.option("--flavor", metavar="FLAVOR", help="Which build [the one for the program's own MPI; for Python the one built last].")
@click.option("--transport", type=Name(), metavar="NAME", help="What moves the data: such as shared+mpi; sets PARHELION_TRANSPORT.")
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="Stop ranks after so long: exit status 124.")
@click.option("--neighbor-timeout", type=Real(0.001, MOST_SECONDS), metavar="SECONDS",
              help="A longer wait for neighbors is an error that says who did not answer: sets PARHELION_TIMEOUT.")
@click.option("--check", is_flag=True, help="Neighbors compare their calls: sets PARHELION_CHECK.")
@click.option("--profile", is_flag=True, help="Sample the ranks, as `parhelion profile run` does, and say where the time went.")
@click.option("--on-hosts", type=Whole(2, 16), help="On so many hosts that this machine pretends to be, as `parhelion hosts` makes them.")
@click.option("--no-bind", is_flag=True, help="Leave the ranks unbound.")
@click.option("--option", "options", multiple=True, metavar="WORD", help="For mpiexec as it is, such as --option=-l; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show the launcher's command line, and what was set.")
def run(program: tuple[str, ...], **wanted) -> None:
    """Start PROGRAM as ranks, under the MPI that it is built for, bound to cores.

    \b
    parhelion run -n 4 solver.py
    parhelion run -n 4 ./solver input.txt
    parhelion run --on-hosts 2 -n 4 --transport ucx ./solver

    The MPI: that of a compiled program is the one that it is linked to; programs in Python get that of a build. The launcher: srun inside
    an allocation of Slurm, else that MPI's mpiexec, on the hosts of PBS, LSF or PARHELION_HOSTS. An exception on one rank of a Python
    program ends all ranks. Options go before PROGRAM. Exit status: the program's; 2 where it cannot be started so.
    """  # fmt: skip
    from .start import Wanted, start

    sys.exit(start(Wanted(list(program), **wanted)))

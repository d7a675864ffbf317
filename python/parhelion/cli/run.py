"""`parhelion run`, which needs only click and the library's dependencies."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..errors import InputError
from ..launch import Completed
from ..launch.builds import MOST_RANKS, launcher_named
from ..launch.jobs import SlurmJob, rank_of_launcher
from .options import SECONDS, PanelCommand, Real, Whole, options_of

STOPPED = 124  # exit status of GNU timeout
RANKS, EXCHANGES, HOSTS, OUTPUT = map(options_of, ("Ranks", "Exchanges", "Simulated hosts", "Output"))
OF_HOSTS = ("on_hosts", "once")


class Text(click.ParamType):
    def __init__(self, name: str = "text") -> None:
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            self.fail("nothing is given: name one, or leave the option out", param, ctx)
        return str(value)


@click.command(cls=PanelCommand, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
@RANKS("-n", "-np", "--ranks", type=Whole(1, MOST_RANKS), metavar="N", help="Ranks [tasks of the Slurm job].")
@RANKS("--build", "build", type=Text(), metavar="BUILD", help="Which build [that for the program's MPI; for Python the latest].")
@RANKS("--launcher", type=Text(), metavar="COMMAND", help="Command that starts the ranks, such as 'srun --mpi=cray_shasta': sets PARHELION_LAUNCHER.")
@RANKS("--timeout", type=SECONDS, metavar="SECONDS", help="Stop ranks after this time: exit status 124.")
@RANKS("--no-bind", is_flag=True, help="Do not bind ranks to cores.")
@RANKS("--option", type=Text(), multiple=True, metavar="WORD", help="Option for the launcher, such as --option=-l; may be repeated.")
@EXCHANGES("--transport", type=Text("names"), metavar="NAME", help="Transport of the exchanges: such as shared+mpi; sets PARHELION_TRANSPORT.")
@EXCHANGES("--neighbor-timeout", type=Real(0.001, 10_000_000), metavar="SECONDS",
           help="Time limit of a wait for neighbors; the error names the ranks that did not answer: sets PARHELION_TIMEOUT.")
@EXCHANGES("--check", is_flag=True, help="Neighbors compare their calls: sets PARHELION_CHECK.")
@HOSTS("--on-hosts", type=Whole(2, 16), metavar="N", help="Number of simulated hosts, each with its own name, network, processes and shared memory.")
@HOSTS("--once", is_flag=True, help="Start PROGRAM once, on the first host, not as ranks; parhelion commands in it start ranks on all hosts.")
@OUTPUT("-v", "--verbose", is_flag=True, help="Show the launcher's command line and the variables that were set.")
def run(program: tuple[str, ...], on_hosts: int | None, once: bool, **how: Any) -> None:
    """Start PROGRAM as ranks, under the MPI that it is built for, bound to cores.

    \b
    parhelion run -n 4 solver.py
    parhelion run -n 4 ./solver input.txt
    parhelion run --on-hosts 2 -n 4 --transport ucx ./solver
    parhelion run --on-hosts 2 --once parhelion bench halo --ranks 2

    A compiled program runs under the MPI that it is linked to, a Python program under that of a build. The launcher is srun in a job
    of Slurm, otherwise that MPI's mpiexec, on the hosts of PBS, LSF or PARHELION_HOSTS. An exception on one rank of a Python program
    ends all ranks. Options go before PROGRAM. Exit status: the program's; 2 if it cannot be started.
    """
    _refuse_inside()
    with launcher_named(how["launcher"]):
        if on_hosts:
            from ..machine.hosts import run_on_hosts

            command = program if once else [sys.executable, "-m", "parhelion", "run", *words_of(click.get_current_context())]
            sys.exit(run_on_hosts(on_hosts, command))
        if once:
            raise InputError("--once needs --on-hosts: give the number of hosts, such as --on-hosts 2")
        sys.exit(_start(program, how))


def words_of(ctx: click.Context) -> list[str]:
    words: list[str] = []
    for option in ctx.command.params:
        value = ctx.params[str(option.name)]
        if option.name not in ("program", *OF_HOSTS) and value not in (None, False, ()):
            name = option.opts[-1]
            words += [name] if value is True else [f"{name}={each}" for each in (value if isinstance(value, tuple) else [value])]
    return [*words, "--", *ctx.params["program"]]


def setting(how: Mapping[str, Any]) -> dict[str, str]:
    told = {"PARHELION_TRANSPORT": how["transport"], "PARHELION_TIMEOUT": how["neighbor_timeout"] and f"{how['neighbor_timeout']:g}",
            "PARHELION_CHECK": "1" if how["check"] else None}
    return {name: value for name, value in told.items() if value}


def _start(program: Sequence[str], how: Mapping[str, Any]) -> int:
    from ..launch.program import choose

    ranks = how["ranks"] or _tasks_of_the_job(program)
    words, build, notes = choose(program, how["build"])
    variables = setting(how)
    launch = build.launch(ranks, words[0], words[1:], bind=not how["no_bind"], options=how["option"], setting=variables)
    # Always report deviations from the request.
    notes += [note for note in launch.notes if how["verbose"] or "share" in note or "srun offers" in note]
    if how["verbose"]:
        settings = [f"{name}={value}" for name, value in variables.items()]
        notes += [f"MPI: {build.library_version} ({build.mpi_library})", " ".join([*settings, *launch.argv])]
    for line in notes:
        print(f"parhelion run: {line}", file=sys.stderr, flush=True)
    try:
        return _status(launch.run(timeout=how["timeout"], reads=_has_input()), how["timeout"])
    except OSError as error:
        raise InputError(f"cannot start {error.filename}: {error.strerror}") from None


def _refuse_inside() -> None:
    here = rank_of_launcher()
    if here is None:
        return
    if here.rank > 0:
        sys.exit(2)  # rank 0 prints the error
    of = f" of {here.size}" if here.size else ""
    raise InputError(f"a launcher ({here.kind}) has already started this as rank {here.rank}{of}: leave `parhelion run` out and let that launcher "
                     "start the program itself, or call `parhelion run` once, from the batch script")


LATE = re.compile(r"(?:-n|--?np|--ranks)=?(\d*)")


def _tasks_of_the_job(program: Sequence[str]) -> int:
    job = SlurmJob.told(os.environ)
    if job and job.tasks:
        return job.tasks
    if late := next(filter(None, map(LATE.fullmatch, program[1:])), None):
        raise InputError(f"{late[0]} is after the program and goes to it: put it first, parhelion run -n {late[1] or 'N'} {program[0]}")
    raise InputError("give the number of ranks, such as -n 4")


def _status(done: Completed, timeout: float | None) -> int:
    if done.returncode is None:
        print(f"parhelion run: the ranks were stopped after {timeout:g} s (--timeout)", file=sys.stderr)
        return STOPPED
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _has_input() -> bool:
    """Whether to pass standard input on; ranks run in another session and cannot read a terminal."""
    try:
        return not os.isatty(0)
    except OSError:
        return False

"""`parhelion run`."""

import sys
from collections.abc import Callable
from typing import Any

import click

from ..cli.lazy import PanelCommand, options_of
from .options import OPTIONS, Option


class Value(click.ParamType):
    """What one option takes, named as the other commands' types are."""

    def __init__(self, option: Option) -> None:
        self.option = option
        if option.bounds:
            self.name = "whole numbers" if isinstance(option.bounds[0], int) else "float range"
        else:
            self.name = "names" if option.metavar == "NAME" else "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.option.value(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        how: dict[str, Any] = {"metavar": option.metavar, "type": Value(option), "multiple": option.again} if option.metavar else {"is_flag": True}
        command = options_of(option.panel)(*option.words.split(), help=option.about, **how)(command)
    return command


@click.command(cls=PanelCommand, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
@_options
def run(program: tuple[str, ...], **wanted: Any) -> None:
    """Start PROGRAM as ranks, under the MPI that it is built for, bound to cores.

    \b
    parhelion run -n 4 solver.py
    parhelion run -n 4 ./solver input.txt
    parhelion run --on-hosts 2 -n 4 --transport ucx ./solver

    The MPI: that of a compiled program is the one that it is linked to; programs in Python get that of a build. The launcher: srun inside
    an allocation of Slurm, else that MPI's mpiexec, on the hosts of PBS, LSF or PARHELION_HOSTS. An exception on one rank of a Python
    program ends all ranks. Options go before PROGRAM. Exit status: the program's; 2 where it cannot be started so.
    """
    from .start import Wanted, start

    sys.exit(start(Wanted(list(program), **wanted)))

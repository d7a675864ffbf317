"""`parhelion hosts`."""

from __future__ import annotations

import sys

import click

from .errors import BadInput


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "--hosts", "count", type=click.IntRange(2, 16), default=2, show_default=True, help="How many hosts.")
@click.option("--check", is_flag=True, help="Only say whether it can be done here.")
@click.argument("command", nargs=-1, metavar="COMMAND...")
def hosts(count: int, check: bool, command: tuple[str, ...]) -> None:
    """Run COMMAND on the first of several hosts that this machine pretends to be, joined by virtual cables.

    \b
    parhelion hosts parhelion bench alltoall --ranks 4 --size 1,64K
    parhelion hosts -n 2 mpiexec -launcher-exec '$PARHELION_REMOTE_SHELL' …

    Each host has its own name, network, process numbers, shared memory and, where there are enough, processors. Ranks that
    parhelion starts are spread over all hosts and meet over TCP. Needs network namespaces: Linux with user namespaces, or root.
    """  # fmt: skip
    from ..hosts import HostsError, reason_against, run_on_hosts

    if check:
        _tell(reason_against())
        return
    if not command:
        raise BadInput("say which command is to be run, such as `parhelion hosts hostname`")
    try:
        sys.exit(run_on_hosts(count, command))
    except HostsError as error:
        raise BadInput(str(error)) from None


def _tell(reason: str | None) -> None:
    if reason:
        raise BadInput(reason)
    click.echo("hosts can be made here")

"""`parhelion hosts`."""

import math
import sys

import click

from ...cli.errors import BadInput
from ...cli.options import Real, Whole
from ...cli.output import Output, json_option
from .sandbox import MOST_HOSTS, HostsError, run_on_hosts

GBIT = 1e9 / 8  # bytes per second


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--hosts", "count", type=Whole(2, MOST_HOSTS), default=2, show_default=True, help="Number of hosts.")
@click.option("--possible", is_flag=True, help="Only say whether it can be done here.")
@click.option("--latency", type=Real(0, 1000), default=0, metavar="MS", help="Milliseconds added to every packet [0].")
@click.option("--bandwidth", type=Real(0.001, 1000), metavar="GBIT/S", help="Limit of each host's cable, each way, in Gbit/s [none].")
@json_option
@click.argument("command", nargs=-1, metavar="COMMAND...")
def hosts(count: int, possible: bool, latency: float, bandwidth: float | None, json_file: str | None, command: tuple[str, ...]) -> None:
    """Run COMMAND on the first of several hosts that this machine pretends to be, joined by virtual cables.

    \b
    parhelion hosts parhelion bench alltoall --ranks 4 --size 1,64K
    parhelion hosts --hosts 4 --latency 1 parhelion bench halo --ranks 8
    parhelion hosts sh -c '$PARHELION_REMOTE_SHELL phl2 hostname'

    Each host has its own name, network, process numbers, shared memory and, where there are enough, processors. Ranks that
    parhelion starts are spread over all hosts and meet over TCP. Needs network namespaces: Linux with user namespaces, or root.
    Exit status: that of COMMAND; 2 where hosts cannot be made.
    """  # fmt: skip
    output = Output(json_file)
    if not possible and not command:
        raise BadInput("say which command is to be run, such as `parhelion hosts hostname`")
    status, reason = _try(count, command or ("true",), latency / 1000, bandwidth * GBIT if bandwidth else math.inf)
    output.document({"schema": "parhelion.hosts/1", "hosts": count, "possible": reason is None, "reason": reason, "status": status})
    if reason:
        raise BadInput(reason)
    if possible:
        output.console.print(f"{count} hosts can be made here")
    sys.exit(status)


def _try(count: int, command: tuple[str, ...], latency: float, bandwidth: float) -> tuple[int | None, str | None]:
    try:
        return run_on_hosts(count, command, latency, bandwidth), None
    except HostsError as error:
        return None, str(error)

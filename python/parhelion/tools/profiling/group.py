"""`parhelion profile`."""

import click

from ..cli.lazy import LazyGroup

VERBS = {
    "run": ("parhelion.tools.profiling.run.command", "run_profile", "Start a program's ranks under Linux perf and say where the time goes."),
    "show": ("parhelion.tools.profiling.show.command", "show_profile", "Show a profile again: tables, flame graph, folded stacks."),
    "compare": ("parhelion.tools.profiling.compare.command", "compare", "Rank what changed between two profiles; flame graphs side by side."),
}


@click.group(cls=LazyGroup, table=VERBS)
def profile() -> None:
    """What share of the ranks' time goes to which library and function (libfabric, UCX, MPI, libc, own code)."""

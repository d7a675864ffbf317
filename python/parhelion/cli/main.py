"""The command line's root."""

from __future__ import annotations

import click

from ..launch.ending import ends_by_signals
from .lazy import LazyGroup

COMMANDS = {
    "demo": (".demo", "demo", "Measure halo and gather on this machine and write report.html."),
    "bench": (".bench", "bench", "Measure: halo, gather, alltoall, setup."),
    "matrix": (".matrix", "matrix", "Run the same benchmark under several MPIs and networks."),
    "hosts": (".hosts", "hosts", "Run a command on two hosts that this machine pretends to be."),
    "report": (".report", "report", "Write HTML and Markdown from runs."),
    "compare": (".compare", "compare", "Say what changed between two sets of runs."),
    "profile": (".profile", "profile", "Sample ranks with perf: time per library and function; compare two profiles."),
    "calibrate": (".calibrate", "calibrate", "Say how often compare is right on this machine."),
    "runs": (".runs", "runs", "List, show, tag, export and query runs."),
    "doctor": (".doctor", "doctor", "Say what this machine offers and which transports work here."),
    "place": (".place", "place", "Put the process grid onto the machine and score it."),
    "model": (".model", "model", "Predict what an exchange costs; check it on published figures."),
    "simulate": (".simulate", "simulate", "Run the real exchange on a described machine under SimGrid."),
    "partition": (".partition", "partition", "Partition a mesh and write index maps."),
    "inspect": (".inspect", "inspect", "Check index maps and say what they hold."),
}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="parhelion", prog_name="parhelion")
def root() -> None:
    """Moves halos, places ranks, and measures both.

    Exit status: 0; 1 when a value was wrong; 2 for bad input; 3 when the ranks failed. After SIGINT, SIGTERM, SIGHUP or SIGQUIT
    all ranks are ended, finished cases are kept, and the command ends by that signal (a shell says 128 + its number).
    """


def main() -> None:
    """Entry point of the command `parhelion`."""
    with ends_by_signals("parhelion"):
        root(prog_name="parhelion")

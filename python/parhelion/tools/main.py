"""The command line's root."""

from typing import Any

import click

from ..errors import InputError
from ..launch.ending import ends_by_signals
from .cli.errors import BadInput, missing_package
from .cli.lazy import LazyGroup

COMMANDS = {
    "demo": ("parhelion.tools.bench.demo", "demo", "Measure halo and gather on this machine and write report.html."),
    "bench": ("parhelion.tools.bench.group", "bench", "Measure: halo, gather, alltoall, setup."),
    "matrix": ("parhelion.tools.bench.matrix.command", "matrix", "Run the same benchmark under several MPIs and networks."),
    "run": ("parhelion.tools.running.command", "run", "Start a program as ranks, under the MPI that it is built for."),
    "hosts": ("parhelion.tools.machine.hosts.command", "hosts", "Run a command on several hosts that this machine pretends to be."),
    "report": ("parhelion.tools.reporting.command", "report", "Write HTML and Markdown from runs."),
    "compare": ("parhelion.tools.comparing.command", "compare", "Say what changed between two sets of runs."),
    "profile": ("parhelion.tools.profiling.group", "profile", "Sample ranks with perf: time per library and function; compare two profiles."),
    "image": ("parhelion.tools.images.group", "image", "Measure a software image as a whole; say what changed between two, and why."),
    "calibrate": ("parhelion.tools.comparing.calibrate.command", "calibrate", "Say how often compare is right on this machine."),
    "runs": ("parhelion.tools.runs.group", "runs", "List, show, tag, export and query runs."),
    "doctor": ("parhelion.tools.machine.doctor.command", "doctor", "Say what this machine offers and which transports work here."),
    "config": ("parhelion.tools.config.command", "config", "Say where headers, library, CMake and pkg-config files are."),
    "place": ("parhelion.tools.placing.command", "place", "Put the process grid onto the machine and score it."),
    "model": ("parhelion.studies.model.group", "model", "Predict what an exchange costs; check it on published figures."),
    "simulate": ("parhelion.studies.simulation.command", "simulate", "Run the real exchange on a described machine under SimGrid."),
    "partition": ("parhelion.tools.partitioning.command", "partition", "Partition a mesh and write index maps."),
    "inspect": ("parhelion.tools.partitioning.command", "inspect", "Check index maps and say what they hold."),
}

# What people want; every command stands in one of them.
GROUPS = {
    "Use": ("run", "config", "partition", "inspect"),
    "Measure": ("demo", "bench", "matrix", "profile", "image", "hosts"),
    "Compare": ("report", "compare", "runs", "calibrate"),
    "Place": ("place", "model", "simulate"),
    "Help": ("doctor",),
}


class Root(LazyGroup):
    """The group of all commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad input ends in one message, never in a traceback."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise BadInput(str(error)) from None
        except ModuleNotFoundError as error:
            raise missing_package(error, ctx.invoked_subcommand) from None
        except MemoryError as error:
            raise BadInput(f"there is not enough memory for this{f' ({error})' if str(error) else ''}: ask for less") from None
        except BrokenPipeError:
            raise  # click ends quietly when whoever read our output has gone
        except OSError as error:
            raise BadInput(f"cannot use {error.filename or 'standard output or a temporary file'}: {error.strerror or error}") from None


@click.group(cls=Root, table=COMMANDS, groups=GROUPS, context_settings={"help_option_names": ["-h", "--help"]})
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

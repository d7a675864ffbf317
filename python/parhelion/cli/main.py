"""The command line's root, and the groups of verbs that stand in it."""

from typing import Any

import click

from ..errors import InputError
from .errors import BadInput, missing_package
from .lazy import LazyGroup
from .streams import PROGRAM, whole_command

# The common ones first.
COMMANDS = {
    "run": ("parhelion.cli.run", "run", "Start a program as ranks, under the MPI that it is built for; also on simulated hosts."),
    "bench": ("parhelion.cli.bench", "bench", "Measure: halo, gather, alltoall, setup, apps, ghosts, a whole software image."),
    "compare": ("parhelion.cli.compare", "compare", "Say what changed between two runs, software images or profiles."),
    "report": ("parhelion.cli.compare", "report", "Write HTML and Markdown from runs."),
    "place": ("parhelion.cli.place", "place", "Put the process grid onto the machine and score it."),
    "partition": ("parhelion.cli.mesh", "partition", "Partition a mesh and write index maps; check such maps."),
    "doctor": ("parhelion.cli.doctor", "doctor", "Say what this machine offers and which transports work here."),
    "demo": ("parhelion.measure.demo", "demo", "Measure halo and gather on this machine and write report.html."),
    "profile": ("parhelion.cli.main", "profile", "Sample ranks with perf: time per library and function."),
    "runs": ("parhelion.cli.main", "runs", "List, show, tag, export and query runs."),
    "model": ("parhelion.cli.main", "model", "Predict what an exchange costs; simulate it; check it on published figures."),
    "config": ("parhelion.cli.run", "config", "Say where headers, library, CMake and pkg-config files are."),
}

PROFILE_VERBS = {
    "run": ("parhelion.cli.profile", "run_profile", "Start a program's ranks under Linux perf and say where the time goes."),
    "show": ("parhelion.cli.profile_show", "show_profile", "Show a profile again: tables, and stacks for flame graphs."),
}
RUNS_VERBS = {
    "list": ("parhelion.cli.runs", "list_runs", "List the runs in a store."),
    "show": ("parhelion.cli.runs", "show_run", "Show one run."),
    "tag": ("parhelion.cli.runs", "tag_run", "Give a run labels, or take some away."),
    "export": ("parhelion.cli.runs", "export_runs", "Write samples or figures as CSV, Parquet or JSON."),
    "import": ("parhelion.cli.runs", "import_runs", "Make a run of what OSU Micro-Benchmarks or IMB have printed."),
    "query": ("parhelion.cli.runs", "query_runs", "Ask the store in SQL."),
    "history": ("parhelion.cli.compare", "history", "Find the runs at which figures of a store became slower or faster."),
}
MODEL_VERBS = {
    "published": ("parhelion.cli.place", "published", "Fit and check the model on the published figures."),
    "fit": ("parhelion.cli.place", "fit", "Fit the model to runs that were measured here."),
    "predict": ("parhelion.cli.place", "predict", "Predict an exchange in blocked order and placed."),
    "simulate": ("parhelion.cli.place", "simulate", "Run the real exchange on a described machine under SimGrid."),
}


class Root(LazyGroup):
    """The group of all commands."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; what is missing for it is told with all that it may need."""
        try:
            return super().get_command(ctx, cmd_name)
        except ModuleNotFoundError as error:
            raise missing_package(error, cmd_name) from None

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


@click.group(cls=Root, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="parhelion", prog_name="parhelion")
def root() -> None:
    """Moves halos, places ranks, and measures both.

    Exit status: 0; 1 when a value was wrong; 2 for bad input; 3 when the ranks failed. After SIGINT, SIGTERM, SIGHUP or SIGQUIT
    all ranks are ended, finished cases are kept, and the command ends by that signal (a shell says 128 + its number).
    """


@click.group(cls=LazyGroup, table=PROFILE_VERBS)
def profile() -> None:
    """What share of the ranks' time goes to which library and function (libfabric, UCX, MPI, libc, own code)."""


@click.group(cls=LazyGroup, table=RUNS_VERBS)
def runs() -> None:
    """Runs that were measured: a store is a folder of run folders."""


@click.group(cls=LazyGroup, table=MODEL_VERBS)
def model() -> None:
    """Predict what an exchange costs, from bytes and messages per level of the machine."""


def main() -> None:
    """Entry point of the command `parhelion`."""
    with whole_command():
        root(prog_name=PROGRAM)

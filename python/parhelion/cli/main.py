"""Root command, groups of verbs, and error handling of a whole command: exceptions, signals, closed streams."""

import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..errors import BAD_INPUT, InputError, RANKS_FAILED, RanksFailed, what_is_missing
from ..launch.ending import ends_by_signals
from ..launch.jobs import told_by_another

# Most common first.
COMMANDS = {
    "run": ("parhelion.cli.run", "run", "Start a program as ranks, under the MPI that it is built for; also on simulated hosts."),
    "bench": ("parhelion.cli.bench", "bench", "Measure: halo, gather, alltoall, apps, ghosts, a whole software image."),
    "compare": ("parhelion.cli.compare", "compare", "Compare two runs, software images or profiles."),
    "report": ("parhelion.cli.compare", "report", "Write HTML and Markdown from runs."),
    "place": ("parhelion.cli.place", "place", "Place the process grid on the machine and count the traffic."),
    "partition": ("parhelion.cli.place", "partition", "Partition a mesh and write index maps; check such maps."),
    "doctor": ("parhelion.cli.doctor", "doctor", "Examine this machine: cores, MPIs, transports."),
    "demo": ("parhelion.cli.bench", "demo", "Measure halo and gather on this machine and write report.html."),
    "profile": ("parhelion.cli.main", "profile", "Sample ranks with perf: time per library and function."),
    "runs": ("parhelion.cli.main", "runs", "List, show, tag and export runs."),
    "model": ("parhelion.cli.main", "model", "Performance model: fit, check on published figures, simulate a machine."),
    "config": ("parhelion.cli.doctor", "config", "Print the folders of headers, library, CMake and pkg-config files."),
}

PROFILE_VERBS = {
    "run": ("parhelion.cli.profile", "run_profile", "Run a program under Linux perf: time per library and function."),
    "show": ("parhelion.cli.profile", "show_profile", "Show a profile again: tables, and stacks for flame graphs."),
}
RUNS_VERBS = {
    "list": ("parhelion.cli.runs", "list_runs", "List the runs in a store."),
    "show": ("parhelion.cli.runs", "show_run", "Show one run."),
    "tag": ("parhelion.cli.runs", "tag_run", "Add or remove labels of a run."),
    "export": ("parhelion.cli.runs", "export_runs", "Write samples or figures as CSV, Parquet or JSON."),
    "import": ("parhelion.cli.runs", "import_runs", "Import results of OSU Micro-Benchmarks, IMB or Comb."),
    "history": ("parhelion.cli.compare", "history", "Find the runs at which figures of a store became slower or faster."),
}
MODEL_VERBS = {
    "published": ("parhelion.cli.place", "published", "Fit and check the model on the published figures."),
    "fit": ("parhelion.cli.place", "fit", "Fit the model to your own runs."),
    "schedule": ("parhelion.cli.place", "schedule", "Write exchanges of up to a million ranks as a GOAL schedule, and count them."),
    "simulate": ("parhelion.cli.place", "simulate", "Run the real exchange on a described machine under SimGrid."),
}


class LazyGroup(click.Group):
    """Group that imports commands on demand; `table`: name → module, attribute, one-line help."""

    def __init__(self, *args: Any, table: dict[str, tuple[str, str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, attribute, _ = self.table[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        command.name = cmd_name  # the function's name may differ
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, _, about) in self.table.items()])


class Root(LazyGroup):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return super().get_command(ctx, cmd_name)
        except ModuleNotFoundError as error:
            raise _missing_package(error, cmd_name) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; of the ranks that `mpiexec … parhelion bench` starts, one per node reports an error."""
        try:
            return self._invoke(ctx)
        except click.ClickException as error:
            if ctx.invoked_subcommand in (None, "bench") and told_by_another():
                sys.exit(error.exit_code)
            raise

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise BadInput(str(error)) from None
        except RanksFailed as error:
            raise Failed(str(error)) from None
        except ModuleNotFoundError as error:
            raise _missing_package(error, ctx.invoked_subcommand) from None
        except MemoryError as error:
            raise BadInput(f"not enough memory{f' ({error})' if str(error) else ''}: use smaller sizes or more ranks") from None
        except BrokenPipeError:
            raise  # click exits silently on a broken pipe
        except OSError as error:
            raise BadInput(f"cannot use {error.filename or 'standard output or a temporary file'}: {error.strerror or error}") from None


class BadInput(click.ClickException):
    exit_code = BAD_INPUT


class Failed(click.ClickException):
    exit_code = RANKS_FAILED


def _missing_package(error: ModuleNotFoundError, command: str | None) -> click.ClickException:
    """Return an error that tells which package to install; re-raise if a module of Parhelion is missing."""
    told = what_is_missing(error, command)
    if told is None:
        raise error
    return BadInput(told)


@click.group(cls=Root, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="parhelion", prog_name="parhelion")
def root() -> None:
    """Exchange halos, place ranks, and benchmark both.

    Exit status: 0; 1 if a value was wrong; 2 for bad input; 3 if ranks failed. After SIGINT, SIGTERM, SIGHUP or SIGQUIT
    all ranks are stopped, finished cases are kept, and the command ends by that signal (in a shell: 128 + its number).
    """


@click.group(cls=LazyGroup, table=PROFILE_VERBS)
def profile() -> None:
    """Sample ranks with perf: time per library and function (libfabric, UCX, MPI, libc, own code)."""


@click.group(cls=LazyGroup, table=RUNS_VERBS)
def runs() -> None:
    """Manage a store of runs: a folder with a folder for each run."""


@click.group(cls=LazyGroup, table=MODEL_VERBS)
def model() -> None:
    """Performance model of an exchange: latency and bandwidth of each level of the machine, for `place --parameters`."""


PROGRAM = "parhelion"
READER_HAS_GONE = 1  # exit status of click on a broken pipe


@contextmanager
def whole_command() -> Iterator[None]:
    """Context of a whole command; exits the process, with status 2 if standard output could not be written.

    Flushes here, because errors in the interpreter's final flush cannot be caught.
    """
    with ends_by_signals(PROGRAM):
        _open_closed_streams()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # encodings of some locales lack the characters of tables
        status: object = 0
        failed: OSError | None = None
        try:
            yield
        except SystemExit as end:
            status = end.code
        except OSError as error:  # raised by `--help`, which prints before any command runs
            failed = error
        unwritten = _flush()
        if failed := failed or unwritten:
            status = status or _told(failed)
        sys.exit(status)  # type: ignore[arg-type]


def _flush() -> OSError | None:
    failed = None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            failed = error
            _discard(number)
    return failed


def _discard(number: int) -> None:
    """Discard buffered output, else the interpreter's final flush fails and changes the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _told(failed: OSError) -> int:
    if isinstance(failed, BrokenPipeError):
        return READER_HAS_GONE
    where = failed.filename or "standard output"
    try:
        print(f"Error: cannot write {where}: {failed.strerror or failed}", file=sys.stderr, flush=True)
    except OSError:
        _discard(2)
    return BAD_INPUT


def _open_closed_streams() -> None:
    """Open /dev/null for closed standard streams, else a file opened later takes their descriptors, which ranks inherit. Exits without stdout."""
    closed = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in closed:
        opened = os.open(os.devnull, os.O_RDWR)
        os.dup2(opened, number)
        os.set_inheritable(number, True)
    sys.stdin = sys.stdin or open(0)
    sys.stderr = sys.stderr or open(2, "w")
    if 1 in closed:
        sys.stdout = open(1, "w")
        print("Error: standard output is closed: name a file, or /dev/null", file=sys.stderr, flush=True)
        sys.exit(BAD_INPUT)


def main() -> None:
    with whole_command():
        root(prog_name=PROGRAM)

"""What `parhelion run` does."""

import math
import os
import sys
from dataclasses import dataclass

from ..errors import InputError
from . import Flavor, Launch, inside_launcher
from .inside import by_srun
from .flavor import launcher_named
from .linked import choose
from .process import Completed, run_command
from .schedulers import job_told

GBIT = 1e9 / 8  # bytes per second
STOPPED = 124  # as `timeout` ends


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    program: list[str]
    ranks: int | None = None
    flavor: str | None = None
    launcher: str | None = None
    transport: str | None = None
    timeout: float | None = None
    neighbor_timeout: float | None = None
    check: bool = False
    profile: bool = False
    on_hosts: int | None = None
    once: bool = False
    latency: float = 0.0  # milliseconds
    bandwidth: float | None = None  # Gbit/s
    no_bind: bool = False
    option: tuple[str, ...] = ()
    verbose: bool = False

    def setting(self) -> dict[str, str]:
        """The library's own variables, by which it hears of the options."""
        told = {"PARHELION_TRANSPORT": self.transport, "PARHELION_TIMEOUT": self.neighbor_timeout and f"{self.neighbor_timeout:g}",
                "PARHELION_CHECK": "1" if self.check else None}  # fmt: skip
        return {name: value for name, value in told.items() if value}

    def words(self) -> list[str]:
        """The same as a command line, but for hosts."""
        valued = {"--ranks": self.ranks, "--flavor": self.flavor, "--launcher": self.launcher, "--transport": self.transport, "--timeout": self.timeout,
                  "--neighbor-timeout": self.neighbor_timeout}  # fmt: skip
        flags = {"--check": self.check, "--profile": self.profile, "--no-bind": self.no_bind, "--verbose": self.verbose}
        words = [f"{option}={value}" for option, value in valued.items() if value is not None] + [option for option, on in flags.items() if on]
        return [*words, *(f"--option={word}" for word in self.option), "--", *self.program]


def start(wanted: Wanted) -> int:
    """Exit status of the program. Raises `InputError` where it cannot be started so."""
    _refuse_inside()
    with launcher_named(wanted.launcher):
        return _start(wanted)


def _start(wanted: Wanted) -> int:
    if wanted.on_hosts:
        return _on_hosts(wanted)
    if wanted.once or wanted.latency or wanted.bandwidth:
        raise InputError("--once, --latency and --bandwidth are for --on-hosts: say how many hosts, such as --on-hosts 2")
    ranks = wanted.ranks or _tasks_of_the_job(wanted.program)
    words, flavor, notes = choose(wanted.program, wanted.flavor)
    if wanted.profile:
        return _profiled(wanted, words, ranks, flavor)
    launch = flavor.launch(ranks, words[0], words[1:], bind=not wanted.no_bind, options=wanted.option, setting=wanted.setting())
    _tell(wanted, launch, flavor, notes)
    return _wait(wanted, launch)


def _refuse_inside() -> None:
    here = inside_launcher()
    if here is None or (here.size == 1 and by_srun(here)):
        return
    if here.rank > 0:
        sys.exit(2)  # rank 0 says it
    of = f" of {here.size}" if here.size else ""
    raise InputError(f"a launcher ({here.kind}) has already started this as rank {here.rank}{of}: leave `parhelion run` out and let that launcher "
                     "start the program itself, or call `parhelion run` once, from the batch script")  # fmt: skip


def _tasks_of_the_job(program: list[str]) -> int:
    job = job_told(os.environ)
    if job and job.tasks:
        return job.tasks
    if late := next((word for word in program[1:] if word in ("-n", "-np", "--ranks")), None):
        raise InputError(f"{late} stands after the program, which gets it: put it before, parhelion run {late} N {program[0]}")
    raise InputError("say how many ranks are to be started, such as -n 4")


def _on_hosts(wanted: Wanted) -> int:
    from ..machine.hosts import HostsError, run_on_hosts

    try:
        command = wanted.program if wanted.once else [sys.executable, "-m", "parhelion", "run", *wanted.words()]
        bandwidth = wanted.bandwidth * GBIT if wanted.bandwidth else math.inf
        return run_on_hosts(wanted.on_hosts or 2, command, wanted.latency / 1000, bandwidth)
    except HostsError as error:
        raise InputError(str(error)) from None


def _profiled(wanted: Wanted, words: list[str], ranks: int, flavor: Flavor) -> int:
    from ..errors import OK, RANKS_FAILED
    from ..show.terminal import Output
    from ..measure.profile import Request, take_profile
    from ..show.profile import blocks

    completed: Completed
    os.environ.update(wanted.setting())
    request = Request(words, ranks, flavor, bind=not wanted.no_bind, timeout=wanted.timeout)
    found, folder, completed = take_profile(request)
    output = Output(None)
    output.show(blocks(found))
    output.console.print(f"profile: {folder}", markup=False, soft_wrap=True)
    return OK if completed.ok else STOPPED if completed.timed_out else RANKS_FAILED


def _tell(wanted: Wanted, launch: Launch, flavor: Flavor, notes: list[str]) -> None:
    """Whatever is not as it was asked for is told in any case."""
    told = notes + [note for note in launch.notes if "share" in note or "srun offers" in note]
    if wanted.verbose:
        settings = [f"{name}={value}" for name, value in wanted.setting().items()]
        told = [*notes, *launch.notes, f"MPI: {flavor.library_version} ({flavor.mpi_library})", " ".join([*settings, *launch.argv])]
    for line in told:
        print(f"parhelion run: {line}", file=sys.stderr, flush=True)


def _wait(wanted: Wanted, launch: Launch) -> int:
    try:
        done = run_command(launch.argv, launch.env, timeout=wanted.timeout, false_start=launch.false_start, reads=_has_input())
    except OSError as error:
        raise InputError(f"cannot start {error.filename}: {error.strerror}") from None
    if done.timed_out:
        print(f"parhelion run: the ranks were stopped after {wanted.timeout:g} s (--timeout)", file=sys.stderr)
        return STOPPED
    assert done.returncode is not None
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _has_input() -> bool:
    """A terminal stays with this process: ranks in a session of their own could not read it."""
    try:
        return not os.isatty(0)
    except OSError:
        return False

"""Ranks, jobs and hosts as launchers and schedulers export them; the command line of ``srun``.

`LAUNCHERS` and `SCHEDULERS` list the supported ones.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .cores import usable_cores
from .process import ask

ANSWERS_S = 20.0


class Rank(NamedTuple):
    """This process's rank in its job; `size` is None if unknown."""

    rank: int
    size: int | None
    kind: str


# Most specific first: Open MPI also sets PMIX_RANK, and srun may set PMI_RANK.
LAUNCHERS = (
    ("openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("pals", "PALS_RANKID", "PALS_SIZE"),
    ("flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("hydra", "PMI_RANK", "PMI_SIZE"),
    ("slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("pmix", "PMIX_RANK", "PMIX_SIZE"),
)


OF_A_SHELL = ("PMI_", "PMI2_", "PMIX_")  # set by launchers for ranks, and by interactive steps for their shell


def has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def inside_launcher(env: Mapping[str, str] | None = None, terminal: Callable[[], bool] = has_terminal) -> Rank | None:
    """Return (rank, size, kind) if a launcher started this process, else None. Local."""
    env = os.environ if env is None else env
    for kind, rank, size in LAUNCHERS:
        number = _integer(env.get(rank))
        if number is not None and (kind != "slurm" or _is_slurm_step(env)):
            here = Rank(number, _integer(env.get(size)), kind)
            return None if _is_interactive(here, env, terminal) else here
    return None


def without_shell(env: Mapping[str, str], terminal: Callable[[], bool] = has_terminal) -> dict[str, str]:
    """Return `env` for a launcher, without PMI variables of an interactive Slurm step's shell."""
    shell = "SLURM_PTY_PORT" in env and inside_launcher(env, terminal) is None
    return {name: value for name, value in env.items() if not (shell and name.startswith(OF_A_SHELL))}


def by_srun(here: Rank, env: Mapping[str, str] | None = None) -> bool:
    """Whether srun assigned this rank, not a launcher that srun started once per node."""
    env = os.environ if env is None else env
    return _is_slurm_step(env) and _in_step(env) == (here.rank, here.size)


def rank_of_launcher() -> Rank | None:
    """Return (rank, size, kind) if this process is one of a launcher's ranks; a command that `srun -n 1` started is none."""
    here = inside_launcher()
    return None if here and here.size == 1 and by_srun(here) else here


# Rank within the node, most specific first.
ON_NODE = ("OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "MPI_LOCALRANKID", "SLURM_LOCALID")


def told_by_another() -> bool:
    """Whether this process is a rank that is not its node's first, which reports the errors common to the node."""
    here = rank_of_launcher()
    known = (number for name in ON_NODE if (number := _integer(os.environ.get(name))) is not None)
    return here is not None and next(known, here.rank) > 0


def _is_slurm_step(env: Mapping[str, str]) -> bool:
    """Whether this is a Slurm step; batch scripts have SLURM_PROCID, too."""
    return ("SLURM_STEP_ID" in env or "SLURM_STEPID" in env) and "SLURM_STEP_NUM_TASKS" in env


def _in_step(env: Mapping[str, str]) -> tuple[int | None, int | None]:
    return _integer(env.get("SLURM_PROCID")), _integer(env.get("SLURM_STEP_NUM_TASKS"))


def _is_interactive(here: Rank, env: Mapping[str, str], terminal: Callable[[], bool]) -> bool:
    """Whether this is the shell of `srun --pty`, not a rank. Child steps inherit SLURM_PTY_PORT, but not the terminal."""
    rank, size = _in_step(env)
    return "SLURM_PTY_PORT" in env and here.rank == rank and here.size in (None, size) and terminal()


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class SlurmJob:
    """A Slurm allocation: nodes, CPUs of all nodes, and tasks and CPUs per task if set."""

    nodes: int
    cpus: int
    tasks: int | None = None
    cpus_per_task: int | None = None

    @classmethod
    def told(cls, env: Mapping[str, str]) -> SlurmJob | None:
        if not env.get("SLURM_JOB_ID"):
            return None
        nodes, tasks, each = (_integer(env.get(f"SLURM_{name}")) for name in ("JOB_NUM_NODES", "NTASKS", "CPUS_PER_TASK"))
        return cls(nodes or 1, counted(env.get("SLURM_JOB_CPUS_PER_NODE", "")), tasks, each)

    def cores(self) -> int:
        threads = len(os.sched_getaffinity(0)) / usable_cores()
        return max(1, int(self.cpus / threads)) if self.cpus else usable_cores()

    def srun(self, pmi: str | None, ranks: int, bind: bool) -> tuple[list[str] | None, list[str]]:
        """Return the command line of srun (None: use `mpiexec`) and notes for the user.

        `pmi`: see `kinds.Kind`.
        """
        if pmi is None:
            return None, []
        if pmi not in offered():
            return None, [f"srun offers no {pmi} ({', '.join(sorted(offered())) or 'nothing'})"]
        each = self.cpus_per_task or 1
        crowded = ranks * each > self.cores()
        words = ["srun", "--overlap", "--export=ALL", f"--mpi={pmi}", f"--cpu-bind={'cores' if bind and not crowded else 'none'}"]
        # Slurm rejects fewer tasks than nodes.
        words += [f"--nodes={min(ranks, self.nodes)}"] + ([f"--cpus-per-task={each}"] if each > 1 else []) + (["--overcommit"] if crowded else [])
        notes = [f"{ranks} ranks share {self.cores()} core{'s' * (self.cores() != 1)} of the allocation and are not bound"] if crowded else []
        return words, notes


def counted(text: str) -> int:
    """Sum a per-node list in Slurm's notation, such as `16(x2),8`; 0 for any other text."""
    parts = [re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part) for part in text.split(",")]
    return sum(int(part[1]) * int(part[2] or 1) for part in parts if part) if all(parts) else 0


@functools.cache
def offered() -> frozenset[str]:
    """Return the PMI types that `srun` supports; empty if it does not answer."""
    try:
        done = ask(["srun", "--mpi=list"], seconds=ANSWERS_S)
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(kinds_in(done.stdout + done.stderr))


def kinds_in(text: str) -> list[str]:
    """Parse `srun --mpi=list`: one name a line, in old versions after `srun: `; new ones append plug-in versions."""
    words = [re.fullmatch(r"(?:srun: )?\s*([a-z]\w+)", line) for line in text.splitlines()]
    return [word[1] for word in words if word]


class Given(NamedTuple):
    """A job's distinct hosts, and the command that starts a program on one; all empty without a scheduler."""

    scheduler: str = ""
    hosts: tuple[str, ...] = ()
    shell: str = ""


class Scheduler(NamedTuple):
    """A scheduler: `hosts` parses `variable`; `shell` starts a command on a host, "" if the scheduler starts ranks."""

    name: str
    variable: str
    hosts: Callable[[str], list[str]]
    shell: str


def given(env: Mapping[str, str], *, without_launcher: bool = False) -> Given:
    """Return the scheduler's hosts; `without_launcher` skips schedulers that start ranks themselves."""
    for each in SCHEDULERS:
        if (told := env.get(each.variable)) and not (without_launcher and not each.shell):
            return Given(each.name, tuple(dict.fromkeys(each.hosts(told))), shutil.which(each.shell) or "")
    return Given()


def _nodes(names: str) -> list[str]:
    """Expand Slurm's node list; empty if `scontrol` fails or does not answer."""
    if not shutil.which("scontrol"):
        return []
    try:
        done = ask(["scontrol", "show", "hostnames", names], seconds=ANSWERS_S)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split() if done.returncode == 0 else []


def _words(file: str) -> list[str]:
    try:
        return Path(file).read_text().split()
    except OSError:
        return []


SCHEDULERS = (
    Scheduler("Slurm", "SLURM_JOB_NODELIST", _nodes, ""),
    Scheduler("PBS", "PBS_NODEFILE", _words, "pbs_tmrsh"),
    Scheduler("LSF", "LSB_MCPU_HOSTS", lambda told: told.split()[::2], "blaunch"),
)


@dataclass(frozen=True)
class Hosts:
    """Hosts of a launch.

    `shell` starts a command on a host as ssh does (empty: ssh). `subnet`: the one to use, or empty. `given`: assigned by a scheduler, so
    ranks may be bound to cores. `room`: ranks per host, or empty. `cores`: total of hosts simulated on one machine, else 0.
    """

    names: tuple[str, ...] = ()
    shell: str = ""
    subnet: str = ""
    given: bool = False
    room: tuple[int, ...] = ()
    cores: int = 0

    @classmethod
    def told(cls, env: Mapping[str, str]) -> Hosts:
        words = [word.strip().partition(":") for word in env.get("PARHELION_HOSTS", "").split(",") if word.strip()]
        names = tuple(name for name, _, _ in words)
        room = tuple(int(number) for _, _, number in words if number.isdecimal())
        shell, subnet = env.get("PARHELION_REMOTE_SHELL", ""), env.get("PARHELION_SUBNET", "")
        scheduled = given(env, without_launcher=True)
        if not names and len(scheduled.hosts) > 1:
            return cls(scheduled.hosts, shell or scheduled.shell, subnet, given=True)
        cores = env.get("PARHELION_HOSTS_CORES", "")
        return cls(names, shell, subnet, room=room if len(room) == len(names) else (), cores=int(cores) if cores.isdecimal() else 0)

    def shares(self, ranks: int) -> dict[str, int]:
        """Return ranks per host, without zeros: `room` if its sum is `ranks`, else even shares, the first hosts one more."""
        each, more = divmod(ranks, len(self.names))
        even = [each + (number < more) for number in range(len(self.names))]
        return {name: number for name, number in zip(self.names, self.room if sum(self.room) == ranks else even) if number}

    def fullest(self, ranks: int) -> int:
        return max(self.shares(ranks).values()) if self.names else ranks

    def crowded(self, ranks: int, cores: int) -> bool:
        """Whether a host has more ranks than `cores`, or simulated hosts more than their machine."""
        return self.fullest(ranks) > cores or ranks > (self.cores or ranks)

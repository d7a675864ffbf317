"""Schedulers: which hosts one has given to this job, and how it starts ranks where it does so itself. Another one is a line in `SCHEDULERS`,
and a file such as `slurm` where it starts ranks.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from .slurm import SlurmJob, allocated_hosts


class Given(NamedTuple):
    """Hosts by name, each once; `scheduler` is empty where none has given any. `shell` starts a command on one of them."""

    scheduler: str = ""
    hosts: tuple[str, ...] = ()
    shell: str = ""


class Job(Protocol):
    """A job of a scheduler that starts ranks itself; `tasks` is how many it is for, where that is told."""

    @property
    def tasks(self) -> int | None: ...

    def cores(self) -> int:
        """Cores of the whole job."""

    def starter(self, kind: str, ranks: int, bind: bool) -> tuple[list[str] | None, list[str]]:
        """The words before the program, and what the user should know. None for the words where `mpiexec` has to start the ranks."""


class Scheduler(NamedTuple):
    """`hosts` of a job, as the environment tells them; `job` of a scheduler that starts ranks itself."""

    hosts: Callable[[Mapping[str, str]], Given]
    job: Callable[[Mapping[str, str]], Job | None] | None = None


def given(env: Mapping[str, str]) -> Given:
    """What the environment tells of a job's hosts."""
    return _first(SCHEDULERS, env)


def given_without_launcher(env: Mapping[str, str]) -> Given:
    """The same for schedulers that start no ranks themselves: the MPI's own launcher has to be told."""
    return _first([each for each in SCHEDULERS if each.job is None], env)


def job_told(env: Mapping[str, str]) -> Job | None:
    """The job that this runs in, of a scheduler that starts ranks itself."""
    return next((job for each in SCHEDULERS if each.job and (job := each.job(env))), None)


def _slurm(env: Mapping[str, str]) -> Given:
    return Given("Slurm", tuple(allocated_hosts(env))) if env.get("SLURM_JOB_NODELIST") else Given()


def _pbs(env: Mapping[str, str]) -> Given:
    return Given("PBS", _each_once(_lines(env["PBS_NODEFILE"])), shutil.which("pbs_tmrsh") or "") if env.get("PBS_NODEFILE") else Given()


def _lsf(env: Mapping[str, str]) -> Given:
    told = env.get("LSB_MCPU_HOSTS", "")
    return Given("LSF", _each_once(told.split()[::2]), shutil.which("blaunch") or "") if told else Given()


SCHEDULERS = (Scheduler(_slurm, SlurmJob.told), Scheduler(_pbs), Scheduler(_lsf))


def _first(schedulers: Iterable[Scheduler], env: Mapping[str, str]) -> Given:
    return next((found for each in schedulers if (found := each.hosts(env)).scheduler), Given())


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text().split()
    except OSError:
        return []


def _each_once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))

"""Which hosts a scheduler has given to this job: Slurm, PBS or LSF."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .slurm import allocated_hosts


class Given(NamedTuple):
    """Hosts by name, each once; `scheduler` is empty where none has given any. `shell` starts a command on one of them."""

    scheduler: str = ""
    hosts: tuple[str, ...] = ()
    shell: str = ""


def given(env: Mapping[str, str]) -> Given:
    """What the environment tells of a job's hosts."""
    if env.get("SLURM_JOB_NODELIST"):
        return Given("Slurm", tuple(allocated_hosts(env)))
    return given_without_launcher(env)


def given_without_launcher(env: Mapping[str, str]) -> Given:
    """The same for schedulers that start no ranks themselves: the MPI's own launcher has to be told."""
    if env.get("PBS_NODEFILE"):
        return Given("PBS", _each_once(_lines(env["PBS_NODEFILE"])), shutil.which("pbs_tmrsh") or "")
    if env.get("LSB_MCPU_HOSTS"):
        return Given("LSF", _each_once(env["LSB_MCPU_HOSTS"].split()[::2]), shutil.which("blaunch") or "")
    return Given()


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text().split()
    except OSError:
        return []


def _each_once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))

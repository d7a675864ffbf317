"""Starting ranks inside an allocation of Slurm: with `srun`, which has the cluster's binding and accounts, where it speaks to the MPI."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from .child import ask
from .cores import usable_cores

# How each MPI learns its ranks from srun. Intel MPI's own launcher asks Slurm by itself; srun needs a library of Slurm's named to it.
SPEAKS = {"mpich": "pmi2", "openmpi": "pmix", "cray": "cray_shasta"}
ANSWERS_S = 20.0


@dataclass(frozen=True)
class SlurmJob:
    """An allocation: how many nodes it has, CPUs on all of them as Slurm counts them, tasks where they are told, and CPUs for each."""

    nodes: int
    cpus: int
    tasks: int | None = None
    cpus_per_task: int | None = None

    @classmethod
    def told(cls, env: Mapping[str, str]) -> SlurmJob | None:
        """What the environment of a batch script, of `salloc`, or of a step says; None elsewhere."""
        if not env.get("SLURM_JOB_ID"):
            return None
        nodes, tasks, each = (_whole(env.get(f"SLURM_{name}")) for name in ("JOB_NUM_NODES", "NTASKS", "CPUS_PER_TASK"))
        return cls(nodes or 1, counted(env.get("SLURM_JOB_CPUS_PER_NODE", "")), tasks, each)

    def cores(self) -> int:
        """Cores of the whole allocation; those of this process where Slurm tells no number."""
        threads = len(os.sched_getaffinity(0)) / usable_cores()
        return max(1, int(self.cpus / threads)) if self.cpus else usable_cores()

    def starter(self, kind: str, ranks: int, bind: bool) -> tuple[list[str] | None, list[str]]:
        """See `schedulers.Job`."""
        return srun(self, kind, ranks, bind)


def counted(text: str) -> int:
    """The sum of a list such as `16(x2),8`, as Slurm writes numbers by node; 0 for anything else."""
    parts = [re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part) for part in text.split(",")]
    return sum(int(part[1]) * int(part[2] or 1) for part in parts if part) if all(parts) else 0


def srun(job: SlurmJob, kind: str, ranks: int, bind: bool) -> tuple[list[str] | None, list[str]]:
    """The words before the program, and what the user should know. None for the words where `mpiexec` has to start the ranks."""
    wanted = SPEAKS.get(kind)
    if wanted is None:
        return None, []
    if wanted not in offered():
        return None, [f"srun offers no {wanted} ({', '.join(sorted(offered())) or 'nothing'})"]
    each = job.cpus_per_task or 1
    crowded = ranks * each > job.cores()
    words = ["srun", "--overlap", "--export=ALL", f"--mpi={wanted}", f"--cpu-bind={'cores' if bind and not crowded else 'none'}"]
    # Slurm takes no number of nodes from a job for fewer tasks than that.
    words += [f"--nodes={min(ranks, job.nodes)}"] + ([f"--cpus-per-task={each}"] if each > 1 else []) + (["--overcommit"] if crowded else [])
    notes = [f"{ranks} ranks share {job.cores()} cores of the allocation and are not bound"] if crowded else []
    return words, notes


@functools.cache
def offered() -> frozenset[str]:
    """Kinds of MPI that this host's `srun` can start; none where it does not answer."""
    try:
        done = ask(["srun", "--mpi=list"], seconds=ANSWERS_S)
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(kinds_in(done.stdout + done.stderr))


def kinds_in(text: str) -> list[str]:
    """The names in what `srun --mpi=list` prints: one a line, in older versions after `srun: `, in newer ones with versions further down."""
    words = [re.fullmatch(r"(?:srun: )?\s*([a-z]\w+)", line) for line in text.splitlines()]
    return [word[1] for word in words if word]


def allocated_hosts(env: Mapping[str, str]) -> list[str]:
    """Names of the nodes of an allocation, in Slurm's order; empty outside, or where `scontrol` does not answer."""
    names = env.get("SLURM_JOB_NODELIST")
    if not names or not shutil.which("scontrol"):
        return []
    done = ask(["scontrol", "show", "hostnames", names], seconds=ANSWERS_S)
    return done.stdout.split() if done.returncode == 0 else []


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None

"""Has a launcher (mpiexec, srun, …) already started this process as one of several ranks?"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Rank(NamedTuple):
    """This process's place in the job that a launcher started; `size` is None when it is not told."""

    rank: int
    size: int | None
    kind: str


# Most telling first: Open MPI's ranks also carry PMIX_RANK, and under srun there may be PMI_RANK too.
LAUNCHERS = (
    ("openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("pals", "PALS_RANKID", "PALS_SIZE"),
    ("flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("hydra", "PMI_RANK", "PMI_SIZE"),
    ("slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("pmix", "PMIX_RANK", "PMIX_SIZE"),
)


OF_A_SHELL = ("PMI_", "PMI2_", "PMIX_")  # what a launcher gives to a rank, and an interactive step to its shell


def has_terminal() -> bool:
    """Whether this process has a controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def inside_launcher(env: Mapping[str, str] | None = None, terminal: Callable[[], bool] = has_terminal) -> Rank | None:
    """(rank, size, kind) of this process when a launcher started it, else None. Local."""
    env = os.environ if env is None else env
    for kind, rank, size in LAUNCHERS:
        number = _integer(env.get(rank))
        if number is not None and (kind != "slurm" or _is_slurm_step(env)):
            here = Rank(number, _integer(env.get(size)), kind)
            return None if _is_interactive(here, env, terminal) else here
    return None


def without_shell(env: Mapping[str, str], terminal: Callable[[], bool] = has_terminal) -> dict[str, str]:
    """The environment for a launcher: in a shell of an interactive step, without that step's connection for its one rank."""
    shell = "SLURM_PTY_PORT" in env and inside_launcher(env, terminal) is None
    return {name: value for name, value in env.items() if not (shell and name.startswith(OF_A_SHELL))}


def by_srun(here: Rank, env: Mapping[str, str] | None = None) -> bool:
    """Whether srun itself has given out the ranks, and no other launcher that it started on each node."""
    env = os.environ if env is None else env
    told = _integer(env.get("SLURM_PROCID")), _integer(env.get("SLURM_STEP_NUM_TASKS"))
    return _is_slurm_step(env) and told == (here.rank, here.size)


def _is_slurm_step(env: Mapping[str, str]) -> bool:
    """A batch script has SLURM_PROCID too, but is no rank."""
    step = env.get("SLURM_STEP_ID", env.get("SLURM_STEPID"))
    return step is not None and "SLURM_STEP_NUM_TASKS" in env


def _is_interactive(here: Rank, env: Mapping[str, str], terminal: Callable[[], bool]) -> bool:
    """A shell from `srun --pty` is told to be a rank, and is none. Steps that it starts inherit the variable, but not the terminal."""
    step = _integer(env.get("SLURM_PROCID")), _integer(env.get("SLURM_STEP_NUM_TASKS"))
    return "SLURM_PTY_PORT" in env and here.rank == step[0] and here.size in (None, step[1]) and terminal()


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None

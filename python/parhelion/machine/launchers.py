"""Launchers on PATH: each `mpiexec` and `srun`, its MPI and process-management interfaces."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..launch import Build
from ..launch.process import ask
from ..launch.jobs import given, kinds_in
from ..launch.kinds import KINDS

ANSWERS_S = 20.0
SCHEDULERS = ("sbatch", "qsub", "bsub", "flux")
# Pattern in the output of `--version`, owner, kinds of MPI that it starts, interfaces.
KNOWN = (
    (re.compile(r"Intel\(R\) MPI Library.*?Version (\S+)"), "Intel MPI", ("impi", "mpich"), "PMI, PMI-2 (Hydra)"),
    (re.compile(r"HYDRA build details:\s+Version:\s+(\S+)"), "MPICH", ("mpich", "impi"), "PMI, PMI-2 (Hydra)"),
    (re.compile(r"\((?:Open MPI|OpenRTE|PRRTE|PRTE)\) (\S+)"), "Open MPI", ("openmpi",), "PMIx"),
    (re.compile(r"slurm\S* (\S+)"), "Slurm", (), ""),
)


@dataclass(frozen=True)
class Launcher:
    """A launcher: `starts` lists kinds of MPI, `offers` its process-management interfaces."""

    path: str
    whose: str
    starts: tuple[str, ...]
    offers: str

    def words(self) -> str:
        return f"{self.path}: {self.whose}" + (f", offers {self.offers}" if self.offers else "")


def launchers() -> list[Launcher]:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    places = [Path(folder) / name for folder in folders if folder for name in ("mpiexec", "srun")]
    there = {place.resolve(): place for place in reversed(places) if os.access(place, os.X_OK)}  # /bin may link to /usr/bin
    return [look_at(str(place)) for place in reversed(there.values())]


def look_at(path: str) -> Launcher:
    said = _ask(path, "--version")
    for pattern, whose, starts, offers in KNOWN:
        if match := pattern.search(said):
            return _srun(path, match[1]) if whose == "Slurm" else Launcher(path, f"{whose} {match[1]}", starts, offers)
    if Path(path).name == "srun":
        return Launcher(path, f"Slurm, which does not answer ({_last_line(said)})", (), "")
    return Launcher(path, "of an unknown MPI", (), "")


def scheduler() -> str:
    job = given(os.environ)
    if not job.scheduler:
        return ""
    return f"in a job of {job.scheduler} on {len(job.hosts)} node{'s' * (len(job.hosts) != 1)}: {', '.join(job.hosts[:8])}{', …' * (len(job.hosts) > 8)}"


def on_login_node() -> bool:
    """Whether this is a login node: a scheduler is installed, but this process is not in a job."""
    return any(map(shutil.which, SCHEDULERS)) and not given(os.environ).scheduler


def why_not(build: Build, found: Iterable[Launcher]) -> str | None:
    """Return why the first mpiexec on PATH would start this build's ranks as singletons; None if it fits or there is none."""
    first = next((each for each in found if Path(each.path).name == "mpiexec"), None)
    if first is None or build.kind in first.starts or not first.starts:
        return None
    return f"mpiexec on the path ({first.path}) belongs to {first.whose}, but build {build.name} needs {build.launcher}"


def _srun(path: str, version: str) -> Launcher:
    kinds = kinds_in(_ask(path, "--mpi=list"))
    starts = tuple(kind for kind, each in KINDS.items() if each.pmi in kinds)
    return Launcher(path, f"Slurm {version}", starts, ", ".join(f"--mpi={kind}" for kind in sorted(kinds)))


def _ask(path: str, word: str) -> str:
    try:
        done = ask([path, word], seconds=ANSWERS_S)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return done.stdout + done.stderr


def _last_line(text: str) -> str:
    return next(iter(reversed(text.strip().splitlines())), "it says nothing")

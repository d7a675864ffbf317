"""Run all checks of `parhelion doctor` and rank the remedies."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import remedy_of_no_build
from ..launch import Build, usable_builds, inside_launcher, usable_cores
from ..launch.kinds import KINDS
from .installed import Mpi4py, built_variants, mpi4py_here, mpi4py_matches, own_transports, version_here
from .networks import device_memory, network
from .collect import collect
from .launchers import Launcher, launchers, on_login_node, scheduler, why_not
from .probes import CHECKS, Finding, most_missed, transports

MOST = 3


@dataclass(frozen=True)
class BuildCheck:
    """A build: version of its MPI, presence of its measuring program, transports, match with mpi4py, network (if ranks were `started`),
    device memory.
    """

    build: Build
    version: str
    program: bool
    transports: dict[str, str]
    mpi4py: bool
    mpi4py_detail: str
    network: dict[str, str]
    device_memory: str
    started: bool


@dataclass(frozen=True)
class Examination:
    environment: dict[str, Any]
    usable_cores: int
    ranks: int
    builds: list[BuildCheck]
    launchers: list[Launcher]
    scheduler: str
    mpi4py: Mpi4py
    machine: list[Finding]
    transports: list[Finding]
    worth_doing: list[str]

    def document(self) -> dict[str, Any]:
        told = asdict(self) | {"builds": [_build_object(check) for check in self.builds], "scheduler": self.scheduler or None}
        return {"schema": "parhelion.doctor/1", **told}


def examine(ranks: int | None, start: bool | None = None) -> Examination:
    cores, starters = usable_cores(), launchers()
    count = ranks or max(2, cores)
    start = not on_login_node() if start is None else start
    findings = [check.finding() for check in CHECKS]
    device = next(each for each in findings if each.name == "CUDA")
    why_no_device = "" if device.works and start else "no ranks were started" if device.works else device.detail
    builds = [_build(build, start, why_no_device) for build in usable_builds().values()]
    unfit = {check.build.name: check.mpi4py_detail for check in builds if not check.mpi4py}
    return Examination(
        environment=collect(),
        usable_cores=cores,
        ranks=count,
        builds=builds,
        launchers=starters,
        scheduler=scheduler(),
        mpi4py=mpi4py_here(),
        machine=findings,
        transports=transports(findings, _usable_by_any(check.transports for check in builds)),
        worth_doing=worth_doing([check.build for check in builds], unfit, starters, findings, crowd(cores, count)),
    )


def crowd(cores: int, ranks: int) -> str | None:
    if ranks <= cores:
        return None
    return (f"start at most {cores} ranks here: {ranks} ranks on {cores} cores share cores, timings then measure the scheduler, "
            "and spinning ranks delay the others")


def _usable_by_any(builds: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return name → "" if any build can use the transport, else the last build's reason."""
    together: dict[str, str] = {}
    for build in builds:
        together |= {name: "" if together.get(name) == "" else why_not for name, why_not in build.items()}
    return together


def _build(build: Build, start: bool, why_no_device: str) -> BuildCheck:
    fits, detail = mpi4py_matches(build)
    program = os.access(build.program, os.X_OK)
    own = own_transports(built_variants(build)) if program else {}
    moved = f"not tried: {why_no_device or 'there is no phl-bench'}" if why_no_device or not program else device_memory(build)
    return BuildCheck(build, version_here(build), program, own, fits, detail, network(build) if program and start else {}, moved, start)


def _build_object(check: BuildCheck) -> dict[str, Any]:
    build = {key: str(value) for key, value in asdict(check.build).items()} | {"library_version": check.version}
    built = {"program": check.program, "transports": sorted(check.transports), "network": check.network, "device_memory": check.device_memory}
    return {**build, **built, "mpi4py_matches": check.mpi4py, "mpi4py_detail": check.mpi4py_detail}


def worth_doing(builds: Sequence[Build], unfit: dict[str, str], found: Sequence[Launcher], findings: Iterable[Finding], crowd: str | None) -> list[str]:
    """Return at most three remedies, most useful first.

    `unfit`: builds whose MPI mpi4py does not load, with reasons; `crowd`: remark about shared cores.
    """
    told = {finding.name: f"{finding.remedy} ({finding.name}, for {finding.needed_for})" for finding in findings if finding.remedy}
    missed = [told[name] for name in most_missed() if name in told]
    candidates = [*_builds(builds, unfit), *_launchers(builds, found), *filter(None, [crowd]), *missed,
                  "run a benchmark, such as `parhelion bench halo --quick`"]
    return candidates[:MOST]


def _builds(builds: Sequence[Build], unfit: dict[str, str]) -> Iterator[str]:
    if not builds:
        yield f"no build can be used here: {remedy_of_no_build()}"
    if len(unfit) < len(builds):
        return  # Python loads the matching build; another may serve other languages, as mpi4py's wheels do not support the standard ABI
    for name, why in unfit.items():
        yield f"let mpi4py load the MPI of build {name} ({why}): start Python programs with `parhelion run`, or install mpi4py's wheel"


def _launchers(builds: Sequence[Build], found: Sequence[Launcher]) -> Iterator[str]:
    for wrong in filter(None, (why_not(build, found) for build in builds[:1])):
        yield f"start ranks with `parhelion run -n RANKS PROGRAM`, which uses the right launcher: {wrong}"
    srun = next((each for each in found if each.whose.startswith("Slurm") and each.offers), None)
    if srun and builds and KINDS[builds[0].kind].pmi and builds[0].kind not in srun.starts:
        yield (f"in jobs of Slurm start ranks with `parhelion run`, which uses {builds[0].launcher} there: srun offers {srun.offers}, and "
               f"build {builds[0].name} needs --mpi={KINDS[builds[0].kind].pmi}")
    here = inside_launcher()
    if here and here.size and here.size > 1:
        yield f"start `parhelion doctor` with one task: a launcher has started it {here.size} times"

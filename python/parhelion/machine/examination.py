"""All that the doctor looks at, and the document of it."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from ..launch import Flavor, flavors, usable_cores
from .builds import built_contenders, own_transports
from .collect import collect
from .checks import machine_findings
from .launchers import Launcher, launchers, on_login_node, scheduler
from .mpi import Mpi4py, mpi4py_loads, mpi4py_matches, network, version_here
from .probes import Finding
from .transports import transports, usable_by_any
from .worth import worth_doing


@dataclass(frozen=True)
class Build:
    """A flavor, which version its MPI here has, whether its measuring program is there, whether mpi4py fits, and what its MPI says of the
    network that it takes, where ranks were started."""

    flavor: Flavor
    version: str
    program: bool
    transports: dict[str, str]
    mpi4py: bool
    mpi4py_detail: str
    network: dict[str, str]
    started: bool


@dataclass(frozen=True)
class Examination:
    """All findings, named as in the document."""

    environment: dict[str, Any]
    usable_cores: int
    ranks: int
    flavors: list[Build]
    launchers: list[Launcher]
    scheduler: str
    mpi4py: Mpi4py
    machine: list[Finding]
    transports: list[Finding]
    worth_doing: list[str]

    def document(self) -> dict[str, Any]:
        """The document of `--json`."""
        told = asdict(self) | {"flavors": [_build_object(build) for build in self.flavors], "scheduler": self.scheduler or None}
        return {"schema": "parhelion.doctor/1", **told}


def examine(ranks: int | None, start: bool | None = None) -> Examination:
    """Try everything out; local to this host. `start`: whether ranks are started; where it is not said, not on a login node."""
    cores = usable_cores()
    count = ranks or max(2, cores)
    start = not on_login_node() if start is None else start
    builds = [_build(flavor, start) for flavor in flavors().values()]
    findings = machine_findings()
    starters = launchers()
    unfit = {build.flavor.name: build.mpi4py_detail for build in builds if not build.mpi4py}
    return Examination(
        environment=collect(),
        usable_cores=cores,
        ranks=count,
        flavors=builds,
        launchers=starters,
        scheduler=scheduler(),
        mpi4py=mpi4py_loads(),
        machine=findings,
        transports=transports(findings, usable_by_any(build.transports for build in builds)),
        worth_doing=worth_doing([build.flavor for build in builds], unfit, starters, findings, crowd(cores, count)),
    )


def crowd(cores: int, ranks: int) -> str | None:
    """What to do where so many ranks share cores."""
    if ranks <= cores:
        return None
    return (f"start at most {cores} ranks here: {ranks} ranks on {cores} cores share cores, timings then tell of the scheduler, and ranks that spin "
            "hold up the others")  # fmt: skip


def _build(flavor: Flavor, start: bool) -> Build:
    fits, detail = mpi4py_matches(flavor)
    program = os.access(flavor.program, os.X_OK)
    own = own_transports(built_contenders(flavor)) if program else {}
    return Build(flavor, version_here(flavor), program, own, fits, detail, network(flavor) if program and start else {}, start)


def _build_object(build: Build) -> dict[str, Any]:
    flavor = {key: str(value) for key, value in asdict(build.flavor).items()} | {"library_version": build.version}
    built = {"program": build.program, "transports": sorted(build.transports), "network": build.network}
    return {**flavor, **built, "mpi4py_matches": build.mpi4py, "mpi4py_detail": build.mpi4py_detail}

"""What the doctor looks at."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from ....launch import Flavor, flavors, usable_cores
from ..collect import collect
from ..contenders import built_contenders, own_transports
from .finding import Finding
from .mpi import Mpi4py, launchers, mpi4py_loads, mpi4py_matches
from .transports import machine_findings, transports, usable_by_any


@dataclass(frozen=True)
class Build:
    """A flavor, whether its measuring program is there, and whether mpi4py fits."""

    flavor: Flavor
    program: bool
    transports: dict[str, str]
    mpi4py: bool
    mpi4py_detail: str


@dataclass(frozen=True)
class Examination:
    """All findings."""

    environment: dict[str, Any]
    cores: int
    ranks: int
    builds: list[Build]
    launchers: list[str]
    mpi4py: Mpi4py
    findings: list[Finding]
    transports: list[Finding]
    advice: list[str]

    def document(self) -> dict[str, Any]:
        """The document of `--json`."""
        return {
            "schema": "parhelion.doctor/1",
            "environment": self.environment,
            "usable_cores": self.cores,
            "ranks": self.ranks,
            "flavors": [_build_object(build) for build in self.builds],
            "launchers": self.launchers,
            "mpi4py": asdict(self.mpi4py),
            "machine": [asdict(finding) for finding in self.findings],
            "transports": [asdict(finding) for finding in self.transports],
            "advice": self.advice,
        }


def examine(ranks: int | None) -> Examination:
    """Try everything out; local to this host."""
    cores = usable_cores()
    count = ranks or max(2, cores)
    builds = [_build(flavor) for flavor in flavors().values()]
    findings = machine_findings()
    return Examination(
        environment=collect(),
        cores=cores,
        ranks=count,
        builds=builds,
        launchers=launchers(),
        mpi4py=mpi4py_loads(),
        findings=findings,
        transports=transports(findings, usable_by_any(build.transports for build in builds)),
        advice=advice(cores, count, builds),
    )


def advice(cores: int, ranks: int, builds: list[Build]) -> list[str]:
    """What to do about what was found."""
    words = []
    if not builds:
        words.append("no build is there: run `make build`")
    if ranks > cores:
        words.append(
            f"{ranks} ranks on {cores} cores share cores: timings then tell of the scheduler; ranks that spin hold up the "
            f"others, so use at most {cores} ranks for measuring"
        )
    kinds = {build.flavor.kind for build in builds}
    if ranks > cores and "mpich" in kinds:
        words.append("MPICH's collectives spin on shared cores: MPIR_CVAR_DEVICE_COLLECTIVES=none is set when we start ranks")
    return words


def _build(flavor: Flavor) -> Build:
    fits, detail = mpi4py_matches(flavor)
    program = os.access(flavor.program, os.X_OK)
    return Build(flavor, program, own_transports(built_contenders(flavor)) if program else {}, fits, detail)


def _build_object(build: Build) -> dict[str, Any]:
    flavor = {key: str(value) for key, value in asdict(build.flavor).items()}
    built = {"program": build.program, "transports": sorted(build.transports)}
    return {**flavor, **built, "mpi4py_matches": build.mpi4py, "mpi4py_detail": build.mpi4py_detail}

"""Every combination of MPI and network that `parhelion bench --flavors` was asked for, and the report of a run over all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..launch import FlavorError, find_flavor, flavors
from ..launch.hosts import Hosts
from ..launch.networks import NETWORKS, network_setting
from ..cli.errors import BadInput
from ..show.terminal import Output
from .measurement import Combination, Group
from ..record.read import Record

USUAL_MPIS = ("mpich", "openmpi", "impi")
MATRIX_TIMEOUT_S = 60.0
SHARED_MEMORY = "shm"


@dataclass(frozen=True)
class MatrixRequest:
    """What `bench --flavors … --networks …` was asked for: names of builds and of networks."""

    mpis: tuple[str, ...]
    networks: tuple[str, ...]
    report_dir: Path | None = None

    @classmethod
    def checked(cls, mpis: tuple[str, ...], networks: tuple[str, ...], report_dir: Path | None) -> MatrixRequest:
        """Fill in what was not said; raises `BadInput` for a network that nobody knows."""
        mpis, networks = (() if names == ("all",) else names for names in (mpis, networks))
        unknown = [name for name in networks if name not in NETWORKS]
        if unknown:
            raise BadInput(f"--networks {unknown[0]}: choose from {', '.join(NETWORKS)}")
        every_mpi = dict.fromkeys([*USUAL_MPIS, *flavors()])
        return cls(tuple(dict.fromkeys(mpis or every_mpi)), tuple(dict.fromkeys(networks or NETWORKS)), report_dir)

    def combinations(self) -> list[Combination]:
        """MPI by MPI, each with every network; those that cannot run carry the reason."""
        return [_combination(mpi, network) for mpi in self.mpis for network in self.networks]


def matrix_groups(groups: Sequence[Group], request: MatrixRequest, flavor: str | None) -> list[Group]:
    """Each group under each combination."""
    if flavor:
        raise BadInput(f"--flavor {flavor}: several builds are named before the benchmark, such as `parhelion bench --flavors {flavor},… halo`")
    combinations = request.combinations()
    if all(combination.reason for combination in combinations):
        reasons = dict.fromkeys(f"{each}: {each.reason}" for each in combinations)
        raise BadInput("no combination can run here:\n" + "\n".join(reasons))
    return [replace(group, combination=combination) for group in groups for combination in combinations]


def write_matrix_report(record: Record, request: MatrixRequest, output: Output) -> None:
    """One report over all combinations, beside the record unless told otherwise."""
    from ..show.report import write_report

    folder = request.report_dir or record.path.parent
    with output.errors.status("drawing the report"):
        write_report([record], folder / "report.html", folder / "report.md")
    output.console.print(f"report: {(folder / 'report.html').resolve()}", markup=False, soft_wrap=True)


def _combination(mpi: str, network: str) -> Combination:
    try:
        flavor = find_flavor(mpi, measuring=True)
    except FlavorError as error:
        return Combination(mpi, network, reason=str(error))
    variables, reason = network_setting(network, flavor.kind)
    if network == SHARED_MEMORY and Hosts.told(os.environ).names:
        reason = reason or "the ranks are on several hosts, which share no memory: the MPI would use a network after all"
    return Combination(mpi, network, flavor, variables, reason)

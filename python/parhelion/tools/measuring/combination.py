"""One cell of a matrix: an MPI and a network, or why they do not go together here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...launch import Flavor
from ...records import RunFolder
from ...records.document import UNAVAILABLE
from ...records.model import Case, End
from .contenders import built_contenders

if TYPE_CHECKING:
    from .measurement import Group, Measurement


@dataclass(frozen=True)
class Combination:
    """`flavor` is None where that MPI is not built; `reason` says why nothing can be started."""

    mpi: str
    network: str
    flavor: Flavor | None = None
    variables: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    reason: str | None = None

    @property
    def params(self) -> dict[str, str]:
        """What tells its cases from those of other combinations."""
        return {"mpi": self.mpi, "network": self.network}

    def __str__(self) -> str:
        return f"{self.mpi} over {self.network}"


def write_unavailable(folder: RunFolder, what: Measurement, launch: int, group: Group, reason: str) -> None:
    """A row with the reason for every case and contender that cannot be measured."""
    for case in group.cases:
        params = {**case, "ranks": group.ranks, **group.params()}
        for contender, role in _contenders(what, group):
            folder.append(Case(launch, what.benchmark, contender, params, role, verified=False, skipped=reason))
    folder.append(End(launch, UNAVAILABLE, f"{group.combination}: {reason}"))


def _contenders(what: Measurement, group: Group) -> list[tuple[str, str]]:
    flavors = [other.combination.flavor for other in (group, *what.groups) if other.combination]
    for flavor in filter(None, flavors):
        listed = built_contenders(flavor).get(what.benchmark, [])
        chosen = [each for each in listed if each["name"] in what.contenders or not (what.contenders or each.get("only_by_name"))]
        if chosen:
            return [(each["name"], each["role"]) for each in chosen]
    return [(name, "own") for name in what.contenders or ("any",)]

"""One cell of a matrix: an MPI and a network, or why they do not go together here."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...launch import Flavor


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

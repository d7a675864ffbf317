"""What every rank exchanges with its neighbors in a structured halo exchange."""

import math
from dataclasses import dataclass

from ...placement import PlacementError, Stencil

ALGORITHMS = ("standard", "staged", "node_aware")


@dataclass(frozen=True)
class Exchange:
    """A halo of `halo` cells around a block of `cells` per rank, in `fields` fields of `bytes_per_cell`.

    ``standard`` sends one message to each of the 3^d − 1 neighbors (or the 2·d across `faces_only`); ``staged`` sends
    along one dimension after another, 2·d messages with the corners inside; ``node_aware`` as standard inside nodes, and between them what each
    owes another collected, each cell once. With `field_by_field` every field travels
    in messages of its own, one after another.
    """

    cells: tuple[int, ...]
    halo: int = 1
    fields: int = 1
    bytes_per_cell: int = 8
    algorithm: str = "standard"
    faces_only: bool = False
    field_by_field: bool = False

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise PlacementError(f"algorithm '{self.algorithm}' is unknown: choose from {', '.join(ALGORITHMS)}")
        if not self.cells or min((*self.cells, self.halo, self.fields, self.bytes_per_cell)) < 1:
            raise PlacementError("an exchange needs at least one cell per dimension, halo width, field and byte")

    @property
    def messages_per_offset(self) -> int:
        """Messages to each neighbor."""
        return self.fields if self.field_by_field else 1

    def stencil(self) -> Stencil:
        """All neighbors, with the halo that goes to each."""
        kind = Stencil.faces if self.faces_only else Stencil.full
        return kind(len(self.cells)).with_halo(self.cells, self.halo, self.fields * self.bytes_per_cell)

    def offsets(self) -> list[tuple[tuple[int, ...], int]]:
        """Neighbors, and the bytes that go to each in all fields together."""
        if self.algorithm == "staged":
            per_cell = self.fields * self.bytes_per_cell
            return [(step, per_cell * self._staged_cells(step)) for step in Stencil.faces(len(self.cells)).offsets]
        stencil = self.stencil()
        return list(zip(stencil.offsets, stencil.bytes, strict=True))

    def bytes(self) -> int:
        """What a rank with all its neighbors sends."""
        return sum(size for _, size in self.offsets())

    def _staged_cells(self, step: tuple[int, ...]) -> int:
        # Dimensions that had their turn are sent with the halo that they received.
        along = next(d for d, s in enumerate(step) if s)
        return math.prod(
            self.halo if d == along else n + 2 * self.halo * (d < along) for d, n in enumerate(self.cells)
        )

"""Bytes and messages of a structured halo exchange, by the outermost level that they cross."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..placement import BetweenNodes, Placement, PlacementError, Stencil, node_pairs
from ..placement.parameters import Traffic
from ..placement.placement import each_periodic

ALGORITHMS = ("standard", "by_dimension", "node_aware")


@dataclass(frozen=True)
class Exchange:
    """An exchange with halo width `halo` around `cells` per rank, of `fields` fields with `bytes_per_cell`.

    ``standard`` sends one message to each of the 3^d − 1 neighbors (2·d with `faces_only`); ``by_dimension`` sends dimension by dimension, 2·d messages
    that include the corners; ``node_aware`` is standard inside nodes and aggregates between nodes, each cell once. `field_by_field` sends separate
    messages for every field, one after another.
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

    def stencil(self) -> Stencil:
        kind = Stencil.faces if self.faces_only else Stencil.full
        return kind(len(self.cells)).with_halo(self.cells, self.halo, self.fields * self.bytes_per_cell)

    def offsets(self) -> list[tuple[tuple[int, ...], int]]:
        if self.algorithm != "by_dimension":
            stencil = self.stencil()
            return list(zip(stencil.offsets, stencil.bytes, strict=True))
        sizes = []
        for step in Stencil.faces(len(self.cells)).offsets:
            along = next(d for d, s in enumerate(step) if s)
            # Messages include the halo of the dimensions before.
            cells = math.prod(self.halo if d == along else n + 2 * self.halo * (d < along) for d, n in enumerate(self.cells))
            sizes.append((step, cells * self.fields * self.bytes_per_cell))
        return sizes


MEMORY_LEVELS = ("numa", "pack", "node")


def memory_level(levels: Iterable[str]) -> str:
    """Level whose ranks share memory bandwidth: NUMA domain, else socket, else node."""
    known = list(levels)
    return next((level for level in MEMORY_LEVELS if level in known), known[0])


def traffic(placement: Placement, exchange: Exchange, periodic: bool | Sequence[bool] = True) -> Traffic:
    """Traffic of a placement across each level. Local; linear in grid points."""
    units = {level: placement.units(level) for level in placement.machine.levels}
    return count(units, exchange, each_periodic(periodic, len(placement.grid)))


def count(units: dict[str, np.ndarray], exchange: Exchange, periodic: Sequence[bool]) -> Traffic:
    """Traffic from maps: the unit of every grid point, by level, outermost first."""
    shape = next(iter(units.values())).shape
    found = _count(units, _edges(shape, exchange, periodic), exchange.fields if exchange.field_by_field else 1)
    if exchange.algorithm == "node_aware":
        node = next(iter(units))
        collected = BetweenNodes.of(node_pairs(units[node], exchange.stencil(), periodic)).aggregated
        found.messages[node], found.leaving[node] = float(collected.busiest_messages), float(collected.busiest_bytes or 0)
    return found


Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # senders, receivers, bytes


def _count(units: dict[str, np.ndarray], parts: Iterable[Edges], messages_per_edge: int = 1) -> Traffic:
    flat, memory = {level: unit.ravel() for level, unit in units.items()}, memory_level(units)
    leaving = {level: np.zeros(int(unit.max()) + 1) for level, unit in flat.items()}
    copied, crossing = np.zeros_like(leaving[memory]), dict.fromkeys(units, 0)
    for senders, receivers, sizes in parts:
        np.add.at(copied, flat[memory][senders], sizes)
        further_out = np.zeros(len(senders), bool)
        for level, unit in flat.items():
            crosses = unit[senders] != unit[receivers]
            np.add.at(leaving[level], unit[senders][crosses], sizes[crosses])
            crossing[level] += int(np.count_nonzero(crosses & ~further_out))
            further_out |= crosses
    messages = {level: messages_per_edge * number / flat[level].size for level, number in crossing.items()}
    return Traffic(messages, {level: float(sums.max()) for level, sums in leaving.items()}, float(copied.max()))


def _edges(shape: tuple[int, ...], exchange: Exchange, periodic: Sequence[bool]) -> Iterator[Edges]:
    """Edges, one offset at a time to bound memory."""
    ranks = np.arange(math.prod(shape)).reshape(shape)
    for step, size in exchange.offsets():
        exists = np.ones(shape, bool)
        for axis, (extent, s, wraps) in enumerate(zip(shape, step, periodic, strict=True)):
            inside = (np.arange(extent) + s >= 0) & (np.arange(extent) + s < extent)
            exists &= (inside | wraps).reshape([-1 if d == axis else 1 for d in range(len(shape))])
        receivers = np.roll(ranks, [-s for s in step], range(len(step)))[exists]
        yield ranks[exists], receivers, np.full(len(receivers), size)

"""What is exchanged on the simulated machine: the halo of a grid, or index maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from ..placement import GraphPlacement, Machine, Placement, Stencil, place, place_graph
from .graphs import PartGraph, read_graph
from .parts import find_metis
from .traffic import Exchange, Traffic, traffic
from .model_published import FLOAT32
from .traffic import memory_level

AnyPlacement = Placement | GraphPlacement
Case = tuple[int, int]
"""Halo width and number of fields."""


class Problem(Protocol):
    """Who sends what to whom, and how the simulated program is told."""

    def orders(self, machine: Machine, case: Case) -> tuple[AnyPlacement, AnyPlacement]:
        """Ranks in blocked order, and placed."""
        ...

    def arguments(self, placement: AnyPlacement, numbering: str) -> list[str]:
        """The program's first two."""
        ...

    def traffic(self, placement: AnyPlacement, case: Case) -> Traffic:
        """What limits the exchange, pair by pair."""
        ...


@dataclass(frozen=True)
class GridHalo:
    """The halo of float32 fields on a periodic grid, `extent` cells per rank."""

    grid: tuple[int, ...]
    extent: tuple[int, ...] = (64, 64, 64)

    def orders(self, machine: Machine, case: Case) -> tuple[AnyPlacement, AnyPlacement]:
        """Blocked as MPI_Cart does it; placed for the bytes of this halo."""
        stencil = Stencil.full(len(self.grid)).with_halo(self.extent, case[0], FLOAT32 * case[1])
        return place(self.grid, machine, stencil, periodic=True, method="blocked"), place(self.grid, machine, stencil, periodic=True)

    def arguments(self, placement: AnyPlacement, numbering: str) -> list[str]:
        """The library numbers with the last dimension fastest: x first is the same with the dimensions the other way round."""
        turned = numbering[:1] == "X" and len(self.grid) > 1
        return ["x".join(map(str, sizes[::-1] if turned else sizes)) for sizes in (self.grid, self.extent)]

    def traffic(self, placement: AnyPlacement, case: Case) -> Traffic:
        """From every grid point."""
        return traffic(placement, Exchange(self.extent, *case, FLOAT32))


@dataclass(frozen=True)
class MapGather:
    """The ghosts of float32 fields on index maps, as `parhelion partition` writes them. A case's halo width means nothing."""

    maps: Path

    @cached_property
    def graph(self) -> PartGraph:
        """What parts send each other in one field. Raises BadInput or IndexMapError."""
        return read_graph(self.maps, FLOAT32)

    def orders(self, machine: Machine, case: Case) -> tuple[AnyPlacement, AnyPlacement]:
        """Part after part; placed for the bytes between parts."""
        find_metis()
        placed = place_graph(machine, self.graph.edges)
        return placed.in_order(), placed

    def arguments(self, placement: AnyPlacement, numbering: str) -> list[str]:
        """The program reads them itself."""
        return ["maps", str(self.maps.resolve())]

    def traffic(self, placement: AnyPlacement, case: Case) -> Traffic:
        """From the graph's edges."""
        ranks, levels, scores = placement.machine.size, placement.machine.levels, placement.scores
        outer: Sequence[int] = [0, *(scores[level].jsum for level in levels)]
        messages = {level: (scores[level].jsum - before) / ranks for level, before in zip(levels, outer, strict=False)}
        leaving = {level: float(scores[level].jmax_bytes * case[1]) for level in levels}
        sent = sum(sum(edges.values()) for edges in self.graph.edges) * case[1]
        return Traffic(messages, leaving, sent / placement.machine.units(memory_level(levels)))

"""Simulated exchanges in blocked order and placed, compared with published times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..placement import Machine, Parameters, choose_grid
from .case import Case
from .published import CELLS, TOPOLOGY, check_published, published_grid, published_rows
from .simgrid import Simulation

DEFAULT_FIGURES = "mpi_comm ompi"
PUBLISHED_RANKS_PER_NODE = (64, 128)
Key = tuple[int, str, int, int]


@dataclass(frozen=True)
class Cell:
    """Simulated seconds per exchange, blocked and placed, and published ones (blocked, placed) by software."""

    ranks_per_node: int
    numbering: str
    halo: int
    fields: int
    transport: str
    blocked_s: float
    placed_s: float
    published: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.ranks_per_node, self.numbering, self.halo, self.fields

    @property
    def speed_up(self) -> float:
        return self.blocked_s / self.placed_s

    @property
    def published_speed_ups(self) -> dict[str, float]:
        return {name: blocked / placed for name, (blocked, placed) in self.published.items()}

    def off_by(self, software: str) -> float:
        """Ratio of simulated and published speed-up, or its inverse: at least 1."""
        ratio = self.speed_up / self.published_speed_ups[software]
        return max(ratio, 1 / ratio)


    def document(self) -> dict[str, Any]:
        published = {name: {"blocked_s": blocked, "placed_s": placed, "speed_up": self.published_speed_ups[name], "off_by": self.off_by(name)}
                     for name, (blocked, placed) in self.published.items()}
        return asdict(self) | {"speed_up": self.speed_up, "published": published}


@dataclass
class Study:
    cells: list[Cell] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)

    def document(self, simulation: Simulation, topology: str) -> dict[str, Any]:
        figures = asdict(simulation.figures)
        del figures["fixed_s"]
        return {"schema": "parhelion.simulation/1", "topology": topology, "overhead_us": 1e6 * simulation.overhead_s, "figures": figures,
                "cells": [cell.document() for cell in self.cells], "launches": self.launches}


def default_figures() -> Parameters:
    """Parameters fitted to published hand-written MPI under Open MPI: Betzy, 64 ranks per node, numbering XYZ."""
    return check_published().fits[DEFAULT_FIGURES].parameters


def default_grid(topology: str, ranks_per_node: int) -> tuple[int, ...]:
    if topology == TOPOLOGY and ranks_per_node in PUBLISHED_RANKS_PER_NODE:
        return published_grid(ranks_per_node)
    machine = Machine(topology, ranks_per_node=ranks_per_node)
    return choose_grid(machine, [64 * round(machine.size ** (1 / 3))] * 3, "full", periodic=True)[0]


def run_study(
    simulation: Simulation, cases: Iterable[Case], numberings: Sequence[str], transports: Sequence[str], say: Callable[[str], None]
) -> Study:
    """Simulate every case in blocked order (MPI_Cart, last dimension fastest), and placed with each numbering.

    Raises SimulationError, PlacementError.
    """
    study, published = Study(), published_cells()
    for case in cases:
        (ranks,) = case.ranks_per_node or (0,)
        orders = {"blocked": case.on_grid("blocked")} | dict.fromkeys(numberings, case.on_grid())
        is_published = case.topology == TOPOLOGY and case.extent == CELLS
        for transport in transports:
            seconds = {}
            for name, placement in orders.items():
                numbering = name if len(placement.grid) == len(name) and name != "blocked" else ""
                made = simulation.run(case, placement, numbering, transport)
                seconds[name] = made.seconds
                study.launches.append({"ranks": placement.machine.size, "order": name, "halo": case.halo, "fields": case.fields,
                                       "transport": transport, **asdict(made)})
                say(f"{placement.machine.size} ranks, {name}, halo {case.halo}, fields {case.fields}, {transport}: "
                    f"{1e3 * made.seconds:.3f} ms per exchange; the simulation took {made.wall_s:.0f} s")
            for name in numberings:
                key = ranks, name, case.halo, case.fields
                study.cells.append(Cell(*key, transport, seconds["blocked"], seconds[name], published.get(key, {}) if is_published else {}))
    return study


def published_cells() -> dict[Key, dict[str, tuple[float, float]]]:
    placed = {row.key[1:]: row.seconds for row in published_rows() if row.placement == "hwcart"}
    cells: dict[Key, dict[str, tuple[float, float]]] = {}
    for row in published_rows():
        if row.placement == "mpicart" and row.key[1:] in placed:
            key = row.ranks_per_node, row.numbering, row.halo, row.fields
            cells.setdefault(key, {})[row.software] = row.seconds, placed[row.key[1:]]
    return cells

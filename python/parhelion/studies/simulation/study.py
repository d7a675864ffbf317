"""Blocked order against placement, cell by cell, beside what was published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...placement import Machine
from ..model import Parameters
from ..model.published import CELLS, TOPOLOGY, published_rows
from .launch import Launch
from .problem import AnyPlacement, Case, GridHalo, Problem


@dataclass(frozen=True)
class Cell:
    """Blocked order against placement: one number of ranks per node, numbering, halo width, number of fields, and transport."""

    ranks_per_node: int
    numbering: str
    halo: int
    fields: int
    transport: str = "mpi_p2p"


@dataclass(frozen=True)
class CellResult:
    """Simulated seconds per exchange in blocked order and placed, and published ones (blocked, placed) by software."""

    cell: Cell
    blocked_s: float
    placed_s: float
    published: dict[str, tuple[float, float]]

    @property
    def speed_up(self) -> float:
        """How many times as fast placement makes it, in the simulation."""
        return self.blocked_s / self.placed_s

    @property
    def published_speed_ups(self) -> dict[str, float]:
        """The same as published, by software."""
        return {name: blocked / placed for name, (blocked, placed) in self.published.items()}

    def off_by(self, software: str) -> float:
        """Simulated over published speed-up, or the other way round: at least 1."""
        ratio = self.speed_up / self.published_speed_ups[software]
        return max(ratio, 1 / ratio)


@dataclass
class Study:
    """All cells, and what the simulations took."""

    results: list[CellResult]
    launches: list[dict[str, Any]] = field(default_factory=list)


def run_study(
    simulated: Callable[..., Launch],
    topology: str,
    problems: dict[int, Problem],
    cases: Sequence[Case],
    numberings: Sequence[str],
    transports: Sequence[str],
    say: Callable[[str], None],
) -> Study:
    """Every cell by `simulated`, which is `simulate` with what all cells share. `problems` says what is exchanged, for each number of ranks
    per node.

    Blocked order is what MPI_Cart gives and has one numbering, the last dimension fastest; the placement is simulated
    with each; it is found for the bytes of each case. Raises SimulationError, PlacementError.
    """
    study, published = Study([]), published_cells()
    for ranks, problem in problems.items():
        machine = Machine(topology, ranks_per_node=ranks)
        is_published = topology == TOPOLOGY and isinstance(problem, GridHalo) and problem.extent == CELLS
        for case in cases:
            blocked, placed = problem.orders(machine, case)
            contenders = {"blocked": (blocked, "")} | {name: (placed, _numbering(name, len(placed.grid))) for name in numberings}
            for transport in transports:
                seconds = {}
                for name, (placement, numbering) in contenders.items():
                    made = simulated(problem, placement, cases=[case], numbering=numbering, transport=transport)
                    seconds[name] = made.seconds[case]
                    study.launches.append(_launch(placement, name, case, transport, made))
                    say(_progress(study.launches[-1]))
                for name in numberings:
                    cell = Cell(ranks, name, *case, transport)
                    study.results.append(CellResult(cell, seconds["blocked"], seconds[name], published.get(cell, {}) if is_published else {}))
    return study


def published_cells() -> dict[Cell, dict[str, tuple[float, float]]]:
    """Seconds per exchange (blocked, hwcart) by software, for every cell where both were published."""
    found: dict[Cell, dict[str, dict[str, float]]] = {}
    for row in published_rows():
        if row.seconds:
            cell = Cell(row.ranks_per_node, row.numbering, row.halo, row.fields)
            found.setdefault(cell, {}).setdefault(row.software, {})[row.placement] = row.seconds
    cells = {}
    for cell, by_software in found.items():
        both = {name: (times["mpicart"], times["hwcart"]) for name, times in by_software.items() if len(times) == 2}
        if both:
            cells[cell] = both
    return cells


def study_document(study: Study, figures: Parameters, topology: str, overhead_us: float = 0.0) -> dict[str, Any]:
    """The document of `parhelion simulate --json`."""
    return {
        "schema": "parhelion.simulation/1",
        "topology": topology,
        "overhead_us": overhead_us,
        "figures": {"name": figures.name, "latency_s": figures.latency_s, "bandwidth": figures.bandwidth,
                    "copy_bandwidth": figures.copy_bandwidth},
        "cells": [_cell(result) for result in study.results],
        "launches": study.launches,
    }  # fmt: skip


def _cell(result: CellResult) -> dict[str, Any]:
    published = {
        name: {"blocked_s": blocked, "placed_s": placed, "speed_up": result.published_speed_ups[name], "off_by": result.off_by(name)}
        for name, (blocked, placed) in result.published.items()
    }
    return {**vars(result.cell), "blocked_s": result.blocked_s, "placed_s": result.placed_s,
            "speed_up": result.speed_up, "published": published}  # fmt: skip


def _launch(placement: AnyPlacement, name: str, case: Case, transport: str, made: Launch) -> dict[str, Any]:
    return {"ranks": placement.machine.size, "order": name, "halo": case[0], "fields": case[1], "transport": transport, "seconds": made.seconds[case],
            "setup_bytes": made.setup_bytes[case], "wall_s": made.wall_s, "cpu_s": made.cpu_s, "memory_bytes": made.memory_bytes}  # fmt: skip


def _progress(launch: dict[str, Any]) -> str:
    return (f"{launch['ranks']} ranks, {launch['order']}, halo {launch['halo']}, fields {launch['fields']}, {launch['transport']}: "
            f"{1e3 * launch['seconds']:.3f} ms per exchange; the simulation took {launch['wall_s']:.0f} s and "
            f"{launch['memory_bytes'] / 2**30:.1f} GiB")  # fmt: skip


def _numbering(name: str, dimensions: int) -> str:
    return name if dimensions == len(name) else ""

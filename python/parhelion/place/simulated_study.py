"""Blocked order against placement, cell by cell, beside what was published; one launch of the simulated ranks under SimGrid."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..launch import run_command
from ..placement import Machine, Numbering
from ..placement.parameters import Parameters
from .model_published import CELLS, TOPOLOGY, published_rows
from .traffic import memory_level
from .simulated_problem import AnyPlacement, Case, GridHalo, Problem
from .simulated_program import Program, SimulationError

MOMENTS_PER_EXCHANGE = 300
# Inside a node ranks send messages in both, so that what differs is between nodes.
TRANSPORTS = {"mpi": "mpi", "node_aware": "mpi+node_aware(mpi)"}
# The system tells the largest of all children that a process ever had, so each launch is the only child of one of its own.
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024], file)
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
"""


@dataclass(frozen=True)
class Launch:
    """Seconds per exchange and bytes per rank that making it left allocated, by case, and what the simulation itself took."""

    seconds: dict[Case, float]
    setup_bytes: dict[Case, int]
    wall_s: float
    cpu_s: float
    memory_bytes: int


def simulate(
    program: Program,
    problem: Problem,
    placement: AnyPlacement,
    figures: Parameters,
    cases: Sequence[Case],
    numbering: str = "",
    transport: str = "mpi",
    overhead_s: float = 0.0,
    iterations: int = 2,
    timeout_s: float = 3600.0,
    check: bool = False,
) -> Launch:
    """Run the exchange over a transport (of TRANSPORTS) on every rank of the placement. Raises SimulationError.

    Each message takes `overhead_s` of the time of the rank that sends it, and of the one that receives it. With `check` every ghost is compared with what it must hold, and ranks keep their arrays apart, which needs memory for all of them.
    """
    seconds: dict[Case, float] = {}
    setup_bytes: dict[Case, int] = {}
    wall, cpu, memory = 0.0, 0.0, 0
    for case in cases:
        moment = max(figures.predict(problem.traffic(placement, case)), 1e-6) / MOMENTS_PER_EXCHANGE
        arguments = [*problem.arguments(placement, numbering), str(iterations), str(int(check)), TRANSPORTS[transport], f"{case[0]}:{case[1]}"]
        environment = {
            "PARHELION_FOLD": "0" if check else "1",
            # Packing and unpacking each cost half of what was fitted for copying.
            "PARHELION_SIMULATED_COPY": f"{copy_seconds_per_byte(placement.machine, figures) / 2:.6e}",
            "PARHELION_SIMULATED_OVERHEAD": f"{overhead_s:.3e}",
            "PARHELION_SIMULATED_POLL": f"{moment:.3e}",
            "PARHELION_PATIENT": str(int(transport == "mpi")),
        }
        text, took, busy, used = _start(program, placement, figures, numbering, _options(moment), arguments, environment, timeout_s)
        line = _result(text, case)
        if line["wrong"]:
            raise SimulationError(f"{line['wrong']} ghosts are wrong for halo {case[0]}, fields {case[1]}")
        seconds[case], setup_bytes[case] = line["seconds"], int(line["setup_bytes"])
        wall, cpu, memory = wall + took, cpu + busy, max(memory, used)
    return Launch(seconds, setup_bytes, wall, cpu, memory)


def _options(moment_s: float) -> list[str]:
    return [
        "smpi/privatization:no", "smpi/simulate-computation:no", "network/crosstraffic:0", "smpi/bw-factor:0:1",
        "smpi/lat-factor:0:1", "smpi/grow-injected-times:no", "smpi/test:0", "smpi/os:0:0:0", "smpi/ois:0:0:0", "smpi/or:0:0:0",
        # Events within a moment count as simultaneous: SimGrid then solves once for all of them. Detached sends would
        # wait in one list of all ranks, which is searched for each of them.
        "smpi/send-is-detached-thresh:0", f"surf/precision:{moment_s:.3e}", "contexts/stack-size:256",
    ]  # fmt: skip


def _start(
    program: Program, placement: AnyPlacement, figures: Parameters, numbering: str, options: list[str],
    arguments: list[str], environment: dict[str, str], timeout_s: float,
) -> tuple[str, float, float, int]:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="phl-simulate-") as folder:
        machine, hostfile = Path(folder) / "machine", Path(folder) / "hosts"
        machine.write_text(machine_text(placement.machine, figures))
        hostfile.write_text("\n".join(hosts(placement, numbering)) + "\n")
        command = [str(program.smpirun), "-quiet", "-np", str(placement.machine.size), "-hostfile", str(hostfile),
                   "-platform", str(program.platform), *(f"--cfg={option}" for option in options),
                   "--log=root.thres:critical", str(program.executable), *arguments]  # fmt: skip
        environment = {**os.environ, **environment, "PARHELION_SIMULATED_MACHINE": str(machine)}
        start, used = time.monotonic(), Path(folder) / "used"
        lines: list[str] = []
        done = run_command([sys.executable, "-c", MEASURED, str(used), *command], environment, timeout=timeout_s, on_line=lines.append)
        busy, memory = json.loads(used.read_text()) if used.exists() else (0.0, 0)
    text = "\n".join(lines)
    took = time.monotonic() - start
    if done.timed_out:
        raise SimulationError(f"the simulation of {placement.machine.size} ranks took more than {timeout_s:.0f} s")
    if done.returncode:
        raise SimulationError(f"the simulated ranks failed ({done.returncode}): {text[-1500:]}")
    return text, took, busy, memory


def _result(text: str, case: Case) -> dict[str, float]:
    for line in text.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if (found["halo"], found["fields"]) == case:
                return found
    raise SimulationError(f"the simulated ranks printed no result for halo {case[0]}, fields {case[1]}: {text[-500:]}")


def machine_text(machine: Machine, figures: Parameters) -> str:
    """Levels with parts, bandwidth and latency, as studies/simulation/platform.cpp reads them.

    A unit hangs on its parent by one link each way. Levels without figures of their own are left out: their parts
    become parts of the level around them. Of a message's latency each of its two ends gets half.
    """
    levels, lines = machine.levels, []
    latency = {level: figures.latency_s.get(level, 0.0) for level in levels}
    parts = 1
    for index, level in enumerate(levels):
        parts *= machine.units(level) // (machine.units(levels[index - 1]) if index else 1)
        inner = latency[levels[index + 1]] if index + 1 < len(levels) else 0.0
        own = max(latency[level] - inner, 0.0) / 2
        bandwidth = figures.bandwidth.get(level, math.inf)
        innermost = index + 1 == len(levels)
        if index and not innermost and math.isinf(bandwidth) and own == 0.0:
            continue
        lines.append(f"level {level} {parts} {bandwidth if math.isfinite(bandwidth) else 'inf'} {own}\n")
        parts = 1
    return "".join(lines)


def hosts(placement: AnyPlacement, numbering: str = "") -> list[str]:
    """The host of every rank: n<node>.<core>."""
    numbered = Numbering(placement.grid, numbering)
    nodes = numbered.in_order(placement.units("node"))
    cores = numbered.in_order(placement.units(placement.machine.levels[-1], within_node=True))
    return [f"n{node}.{core}" for node, core in zip(nodes.tolist(), cores.tolist(), strict=True)]


def copy_seconds_per_byte(machine: Machine, figures: Parameters) -> float:
    """What packing and unpacking cost one rank per byte sent, while all ranks of its memory domain do the same."""
    ranks = machine.size / machine.units(memory_level(machine.levels))
    return ranks / figures.copy_bandwidth


@dataclass(frozen=True)
class Cell:
    """Blocked order against placement: one number of ranks per node, numbering, halo width, number of fields, and transport."""

    ranks_per_node: int
    numbering: str
    halo: int
    fields: int
    transport: str = "mpi"


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
            contenders = {"blocked": (blocked, "")} | {name: (placed, name if len(placed.grid) == len(name) else "") for name in numberings}
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
    """The document of `parhelion model simulate --json`."""
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

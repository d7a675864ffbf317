"""One launch of the simulated ranks: the machine as text, the host of every rank, and SimGrid's options."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...launch import run_command
from ...placement import Machine, Numbering
from ..model import Parameters
from ..model.traffic import memory_level
from .problem import AnyPlacement, Case, Problem
from .program import Program, SimulationError

MOMENTS_PER_EXCHANGE = 300
# Inside a node ranks send messages in both, so that what differs is between nodes.
TRANSPORTS = {"mpi_p2p": "mpi_p2p", "node_aware": "mpi_p2p+node_aware(mpi)"}
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
    transport: str = "mpi_p2p",
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
            "PARHELION_PATIENT": str(int(transport == "mpi_p2p")),
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

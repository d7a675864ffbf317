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
from ...placement import Machine, Numbering, Placement
from ..model import Exchange, Parameters, traffic
from ..model.traffic import memory_level
from .program import Program, SimulationError

POLLS_PER_EXCHANGE = 1000
MOMENTS_PER_EXCHANGE = 300
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
    """Seconds per exchange, by (halo width, fields), and what the simulation itself took."""

    seconds: dict[tuple[int, int], float]
    wall_s: float
    cpu_s: float
    memory_bytes: int


def simulate(
    program: Program,
    placement: Placement,
    figures: Parameters,
    cases: Sequence[tuple[int, int]],
    extent: Sequence[int] = (64, 64, 64),
    numbering: str = "",
    iterations: int = 2,
    timeout_s: float = 3600.0,
    check: bool = False,
) -> Launch:
    """Run the exchange of float32 fields over mpi_p2p on every rank of the placement. Raises SimulationError.

    Each case is (halo width, fields), on a periodic grid. With `check` every ghost is compared with what it must hold,
    and ranks keep their arrays apart, which needs memory for all of them.
    """
    grid, sizes = list(placement.grid), list(extent)
    if numbering and numbering[0] == "X" and len(grid) > 1:
        # The library numbers with the last dimension fastest: x first is the same with the dimensions the other way round.
        grid, sizes = grid[::-1], sizes[::-1]
    seconds: dict[tuple[int, int], float] = {}
    wall, cpu, memory = 0.0, 0.0, 0
    for case in cases:
        expected = figures.predict(traffic(placement, Exchange(tuple(extent), *case, 4)))
        options = _options(placement, figures, max(expected, 1e-6))
        arguments = ["x".join(map(str, grid)), "x".join(map(str, sizes)), str(iterations), str(int(check)),
                     f"{case[0]}:{case[1]}"]  # fmt: skip
        text, took, busy, used = _start(program, placement, figures, numbering, options, arguments, timeout_s, check)
        line = _result(text, case)
        if line["wrong"]:
            raise SimulationError(f"{line['wrong']} ghosts are wrong for halo {case[0]}, fields {case[1]}")
        seconds[case] = line["seconds"]
        wall, cpu, memory = wall + took, cpu + busy, max(memory, used)
    return Launch(seconds, wall, cpu, memory)


def _options(placement: Placement, figures: Parameters, expected_s: float) -> list[str]:
    copy = copy_seconds_per_byte(placement.machine, figures)
    poll = expected_s / POLLS_PER_EXCHANGE
    return [
        "smpi/privatization:no", "smpi/simulate-computation:no", "network/crosstraffic:0", "smpi/bw-factor:0:1",
        "smpi/lat-factor:0:1", "smpi/grow-injected-times:no", f"smpi/test:{poll:.3e}",
        # Packing and unpacking are not timed; each costs half of what was fitted for copying, per byte of a message.
        f"smpi/ois:0:0:{copy / 2:.6e}", f"smpi/os:0:0:{copy / 2:.6e}", f"smpi/or:0:0:{copy / 2:.6e}",
        # Events within a moment count as simultaneous: SimGrid then solves once for all of them. Detached sends would
        # wait in one list of all ranks, which is searched for each of them.
        "smpi/send-is-detached-thresh:0", f"surf/precision:{expected_s / MOMENTS_PER_EXCHANGE:.3e}", "contexts/stack-size:256",
    ]  # fmt: skip


def _start(
    program: Program, placement: Placement, figures: Parameters, numbering: str, options: list[str],
    arguments: list[str], timeout_s: float, check: bool,
) -> tuple[str, float, float, int]:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="phl-simulate-") as folder:
        machine, hostfile = Path(folder) / "machine", Path(folder) / "hosts"
        machine.write_text(machine_text(placement.machine, figures))
        hostfile.write_text("\n".join(hosts(placement, numbering)) + "\n")
        command = [str(program.smpirun), "-quiet", "-np", str(placement.machine.size), "-hostfile", str(hostfile),
                   "-platform", str(program.platform), *(f"--cfg={option}" for option in options),
                   "--log=root.thres:critical", str(program.executable), *arguments]  # fmt: skip
        environment = {**os.environ, "PARHELION_SIMULATED_MACHINE": str(machine), "PARHELION_FOLD": "0" if check else "1"}
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


def _result(text: str, case: tuple[int, int]) -> dict[str, float]:
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


def hosts(placement: Placement, numbering: str = "") -> list[str]:
    """The host of every rank: n<node>.<core>."""
    numbered = Numbering(placement.grid, numbering)
    nodes = numbered.in_order(placement.units("node"))
    cores = numbered.in_order(placement.units(placement.machine.levels[-1], within_node=True))
    return [f"n{node}.{core}" for node, core in zip(nodes.tolist(), cores.tolist(), strict=True)]


def copy_seconds_per_byte(machine: Machine, figures: Parameters) -> float:
    """What packing and unpacking cost one rank per byte sent, while all ranks of its memory domain do the same."""
    ranks = machine.size / machine.units(memory_level(machine.levels))
    return ranks / figures.copy_bandwidth

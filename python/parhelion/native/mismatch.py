"""Messages where the build, mpi4py's MPI and Python do not match. Others are in `alone`, `launch.program` and `launch.builds`."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import build_for, remedy_of_no_mpi
from ..launch import Build, build_directory
from ..launch.builds import WheelBuild
from ..launch.mpi import file_of, name_of, name_to_build


def no_mpi(error: Exception) -> str:
    return f"mpi4py found no MPI ({error}): {remedy_of_no_mpi('mpich')}, or name the library with MPI4PY_LIBMPI=/path/libmpi.so.N"


def no_build(version: str, address: int | None, built: Sequence[Build]) -> str:
    """No build fits mpi4py's MPI, which has a function at `address`."""
    library = file_of(address) if address else None
    bound = f"mpi4py is bound to {name_of(version)}{f' ({library})' if library else ''}"
    remedy = build_for(name_to_build(version, library))
    if not built:
        return f"{bound}, and Parhelion is not built for any MPI in {build_directory()}: {remedy}"
    anywhere = [build for build in built if isinstance(build, WheelBuild)]
    choices = ", ".join(f"{build.name} ({build.soname if build in anywhere else build.mpi_library})" for build in built)
    first = next((build for build in built if build not in anywhere), None)
    other = f"; or bind mpi4py to one of those, MPI4PY_LIBMPI={first.mpi_library}, and start the ranks with {first.launcher}" if first else ""
    return f"{bound}, and Parhelion is built for {choices}: {remedy}{other}"


def does_not_load(module: str, error: Exception, build: Build) -> str:
    return f"{module} does not load ({error}): for this MPI and this Python, {build_for(build.name, again=True)}"


def two_mpis(loaded: Sequence[Path]) -> str:
    return (f"two MPIs are in this process: {' and '.join(map(str, loaded))}; messages of one never reach the other. "
            "Make all packages use the same MPI: check LD_LIBRARY_PATH, LD_PRELOAD and MPI4PY_LIBMPI")

"""Launch MPI ranks: find builds of Parhelion and call each MPI's ``mpiexec``.

Every rank imports this package, so it loads neither MPI nor NumPy. `kinds` lists MPIs and networks, `jobs` launchers' variables and
schedulers.
"""

from .builds import Build, BuildError, Launch, build_directory, default_build, find_build, installed_builds, load_build, run, usable_builds
from .cores import usable_cores
from .jobs import inside_launcher
from .process import Completed, run_command

__all__ = [
    "Build",
    "BuildError",
    "Completed",
    "Launch",
    "build_directory",
    "default_build",
    "find_build",
    "inside_launcher",
    "installed_builds",
    "load_build",
    "run",
    "run_command",
    "usable_builds",
    "usable_cores",
]

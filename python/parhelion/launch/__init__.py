"""Starting ranks: which builds there are, and how each MPI wants its ``mpiexec`` called.

Pure Python without heavy imports: neither MPI nor NumPy is loaded here. Every rank imports this to find its build.
Another MPI's launcher or another network goes into `kinds`, a scheduler and variables by which a rank knows its place into `jobs`.
Which cases run is not known here.
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

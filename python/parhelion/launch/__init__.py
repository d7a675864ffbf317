"""Starting ranks: which builds there are, and how each MPI wants its ``mpiexec`` called.

Pure Python without heavy imports: neither MPI nor NumPy is loaded here. Every rank imports this to find its flavor.
Another MPI's launcher or another network goes into `kinds`, a scheduler and variables by which a rank knows its place into `jobs`.
Which cases run is not known here.
"""

from .cores import usable_cores
from .flavor import Flavor, FlavorError, Launch, built_flavors, default_flavor, find_flavor, flavor_directory, flavors, load_flavor, run
from .jobs import inside_launcher
from .process import Completed, run_command

__all__ = [
    "Completed",
    "Flavor",
    "FlavorError",
    "Launch",
    "built_flavors",
    "default_flavor",
    "find_flavor",
    "flavor_directory",
    "flavors",
    "inside_launcher",
    "load_flavor",
    "run",
    "run_command",
    "usable_cores",
]

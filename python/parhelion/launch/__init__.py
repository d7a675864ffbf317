"""Starting ranks: which builds there are, and how each MPI wants its ``mpiexec`` called.

Pure Python without heavy imports: neither MPI nor NumPy is loaded here.
"""

from .cores import usable_cores
from .flavor import (
    Flavor,
    FlavorError,
    Launch,
    default_flavor,
    flavor_directory,
    flavors,
    load_flavor,
)
from .inside import inside_launcher
from .process import Completed, run_command
from .run import run

__all__ = [
    "Completed",
    "Flavor",
    "FlavorError",
    "Launch",
    "default_flavor",
    "flavor_directory",
    "flavors",
    "inside_launcher",
    "load_flavor",
    "run",
    "run_command",
    "usable_cores",
]

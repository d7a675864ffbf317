"""Starting ranks: which builds there are, and how each MPI wants its ``mpiexec`` called.

Pure Python without heavy imports: neither MPI nor NumPy is loaded here. Every rank imports this to find its flavor; what starts
processes comes when it is used. Another MPI's launcher goes into `kinds`, a scheduler into `schedulers`, another network into `networks`,
variables by which a rank knows its place into `inside`. Which cases run is not known here.
"""

import importlib

from .cores import usable_cores
from .flavor import Flavor, FlavorError, Launch, built_flavors, default_flavor, find_flavor, flavor_directory, flavors, load_flavor
from .inside import inside_launcher

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

_LATER = {"Completed": "process", "run_command": "process", "run": "process"}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value

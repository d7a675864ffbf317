"""All contenders by name, with their roles."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple


class Contender(NamedTuple):
    """`make` is collective and gives an object with run, rows, traffic and explain."""

    name: str
    role: str
    make: Callable[[Any], Any]


def contenders() -> list[Contender]:
    """Needs MPI."""
    from .ways import Hindexed, InProcess, Own, Packed, Plain, PlantedFault, Put, StarForest

    makers: dict[str, Callable[[Any], Any]] = {name: partial(Own, transport=name) for name in NAMES["own"]} | {
        "auto_from_cpp": partial(Own, transport="auto", native=True),
        "published_hindexed": Hindexed,
        "packed_persistent": Packed,
        "mpi4py_isend": Plain,
        "planted_fault": PlantedFault,
        "petsc_sf": StarForest,
        "floor_put": Put,
        "floor_in_process": InProcess,
    }
    return [Contender(name, role, makers[name]) for role, names in NAMES.items() for name in names]


# Known without MPI, for the command line.
NAMES = {
    "own": ["auto", "auto_from_cpp", "shared", "staged_shared", "mpi"],
    "baseline": ["published_hindexed", "packed_persistent", "mpi4py_isend", "planted_fault"],
    "peer": ["petsc_sf"],
    "floor": ["floor_put", "floor_in_process"],
}
ONLY_BY_NAME = {"floor_in_process", "planted_fault"}
ALL = [name for names in NAMES.values() for name in names]

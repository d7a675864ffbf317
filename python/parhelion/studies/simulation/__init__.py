"""The real exchange under SimGrid's SMPI, on a machine that is only described (`parhelion simulate`).

The simulated program, in C++, is in the folder `studies/simulation` of the repository; what an exchange should cost is for `model`.
"""

from .cells import Cell, published_cells
from .errors import SimulationError
from .figures import DEFAULT_FIGURES, default_figures
from .launch import Launch, simulate
from .program import Program, find_program

__all__ = [
    "DEFAULT_FIGURES",
    "Cell",
    "Launch",
    "Program",
    "SimulationError",
    "default_figures",
    "find_program",
    "published_cells",
    "simulate",
]

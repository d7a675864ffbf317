"""Measuring programs in Python: `python -m parhelion.measure.programs ghosts|apps OPTIONS`, with phl-bench's options and record.

`ghosts` exchanges row arrays like the published benchmark; `apps` runs the ocean model Veros (PyPI) with its own halo exchange and with
Parhelion's substituted. This module loads no MPI, for the command line.
"""

# Variants by role.
GHOSTS = {
    "own": ["auto", "auto_from_cpp", "shared", "staged_shared", "mpi"],
    "baseline": ["published_hindexed", "packed_persistent", "mpi4py_isend", "planted_fault"],
    "floor": ["floor_in_process"],
}
VEROS = {"own": ["auto"], "baseline": ["hand_sendrecv", "planted_fault"]}
ONLY_BY_NAME = {"planted_fault"}

EXTENT = (30, 42, 15)  # columns in x and y, and layers, of Veros's setup acc_basic
OVERLAP = 2  # halo width in columns; a rank owns at least as many


def names(roles: dict[str, list[str]]) -> list[str]:
    return [name for some in roles.values() for name in some]


def process_grid(ranks: int) -> tuple[int, int] | None:
    """Return Veros's ranks in x and y with the most nearly square subdomains; None if no grid divides the columns evenly."""
    fitting = [(x, ranks // x) for x in range(1, ranks + 1) if ranks % x == 0 and _fits(EXTENT[0], x) and _fits(EXTENT[1], ranks // x)]
    return min(fitting, key=lambda grid: abs(EXTENT[0] / grid[0] - EXTENT[1] / grid[1]), default=None)


def _fits(cells: int, ranks: int) -> bool:
    return cells % ranks == 0 and cells // ranks >= OVERLAP

"""Measuring programs that run on every rank in Python: `python -m parhelion.measure.programs ghosts|apps OPTIONS`, with phl-bench's options and
record. `ghosts` exchanges row arrays as the published benchmark did; `apps` runs Veros (PyPI), a model of the ocean, with its own exchange of
overlaps and with this library's put in its place from outside.

Here is what the command line needs to know of them, without MPI.
"""

# Variants by role.
GHOSTS = {
    "own": ["auto", "auto_from_cpp", "shared", "staged_shared", "mpi"],
    "baseline": ["published_hindexed", "packed_persistent", "mpi4py_isend", "planted_fault"],
    "floor": ["floor_in_process"],
}
VEROS = {"own": ["auto"], "baseline": ["hand_sendrecv", "planted_fault"]}
ONLY_BY_NAME = {"planted_fault"}

EXTENT = (30, 42, 15)  # of Veros's setup acc_basic: columns in x and y, layers
OVERLAP = 2  # halo width in columns, also the least owned extent


def names(roles: dict[str, list[str]]) -> list[str]:
    return [name for some in roles.values() for name in some]


def process_grid(ranks: int) -> tuple[int, int] | None:
    """Ranks of Veros in x and y, whose subdomains are as square as they get; None where the columns cannot be divided evenly."""
    fitting = [(x, ranks // x) for x in range(1, ranks + 1) if ranks % x == 0 and _fits(EXTENT[0], x) and _fits(EXTENT[1], ranks // x)]
    return min(fitting, key=lambda grid: abs(EXTENT[0] / grid[0] - EXTENT[1] / grid[1]), default=None)


def _fits(cells: int, ranks: int) -> bool:
    return cells % ranks == 0 and cells // ranks >= OVERLAP

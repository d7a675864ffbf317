"""What is known of the setup without Veros: its columns, and how ranks divide them."""

EXTENT = (30, 42, 15)  # of Veros's setup acc_basic: columns in x and y, layers
OVERLAP = 2  # columns that a rank needs of its neighbors, and owns at least

CONTENDERS = {"own": ["auto"], "baseline": ["hand_sendrecv", "planted_fault"]}
ONLY_BY_NAME = {"planted_fault"}
ALL = [name for names in CONTENDERS.values() for name in names]


def process_grid(ranks: int) -> tuple[int, int] | None:
    """Ranks in x and y, whose subdomains are as square as they get; None where the columns cannot be divided evenly."""
    fitting = [(x, ranks // x) for x in range(1, ranks + 1) if ranks % x == 0 and _fits(EXTENT[0], x) and _fits(EXTENT[1], ranks // x)]
    return min(fitting, key=lambda grid: abs(EXTENT[0] / grid[0] - EXTENT[1] / grid[1]), default=None)


def _fits(cells: int, ranks: int) -> bool:
    return cells % ranks == 0 and cells // ranks >= OVERLAP

"""The error of placement."""


class PlacementError(ValueError):
    """A machine, grid, stencil or block that cannot be used; says what, where, and the remedy."""

"""The error of placement."""

from ..errors import InputError


class PlacementError(InputError):
    """A machine, grid, stencil or block that cannot be used; says what, where, and the remedy."""

"""Sums of points that several ranks of a grid hold."""

from typing import Any

import numpy as np

from .. import _core
from ..base.arguments import exchange_options
from ..base.handles import not_pickled
from ..base.together import setup_limit, together
from ..domain.cartesian import CartesianDomain
from ..domain.fields import read_groups
from .reduction import Reduction


class PointSums(_core.PointSums):
    """Sum each point of a staggered field over all ranks that hold it; each gets the sum. Construction is collective.

    Neighboring blocks both hold the points between them. Where a rank's values are its own cells' contributions (forces on nodes, fluxes through
    faces), every holder needs the sum: one round of messages, added in ascending order of rank, with the same bits everywhere. A rank first adds
    up points that it holds twice, at both ends of a periodic dimension or in two blocks. Halos are neither read nor written. With seams, sums take
    two rounds, to the first holder of a point and back; fields may have different staggers, or be cells on the line of a center pivot;
    `Field(u, sign=-1)` and `Field(u, vector=1, along=0)` are as for an Exchange.

    Args:
        domain: a CartesianDomain of cells.
        arrays: of one stagger, equal extents and order, as for an Exchange; dtypes may differ. Calls without arrays use these.
        transport: as for an Exchange.
        timeout: as for an Exchange.

    Raises ValueError or TypeError on every rank for arrays that do not fit.

        force = domain.zeros(stagger=1, components=3)
        sums = ph.PointSums(domain, force)
        sums()                                   # each step; sums(other) for another array of the layout
        sums.reduce("min", force)
    """

    __reduce__ = not_pickled

    def __init__(self, domain: CartesianDomain, *arrays: Any, transport: str | None = None, timeout: float | None = None) -> None:
        if not isinstance(domain, CartesianDomain):
            raise TypeError(f"a {type(domain).__name__} has no points: pass a CartesianDomain; index maps have sum_shared themselves")
        self._domain = domain
        fields, options = together(
            domain._native_comm, lambda: (self._fields(arrays), exchange_options(transport, timeout)), setup_limit(timeout)
        )
        super().__init__(domain._native, *fields, options)

    def __call__(self, *arrays: Any) -> None:
        """Sum the points of these arrays, of the constructor's layouts; by default the constructor's arrays."""
        self.reduce("sum", *arrays)

    def reduce(self, reduction: "str | Reduction", *arrays: Any) -> None:
        """Like a call, with another reduction, a name or a `Reduction`; "replace" takes the highest holder's value.

        If a `Reduction` raises for points that a rank holds twice, that rank gets the exception, and all others a ValueError.
        """
        self._reduce_fields(reduction, *self._read(arrays))

    def begin(self, reduction: "str | Reduction" = "sum", *arrays: Any) -> _core.Step:
        """Start `reduce`. Until the step or `end` ends it, the program must not write shared points.

            with sums.begin("sum", force):
                update_elsewhere()
        """
        return self._begin_fields(reduction, *self._read(arrays))

    def _read(self, arrays: tuple[Any, ...]) -> "tuple[list[_core.Field], list[np.ndarray]]":
        return self._fields(arrays) if arrays else ([], [])

    def _fields(self, arrays: tuple[Any, ...]) -> "tuple[list[_core.Field], list[np.ndarray]]":
        """Fields and their arrays, alive even if the user's list changes."""
        fields = read_groups([self._domain], [arrays])[0]
        if any(parts.depth for parts in fields):
            raise ValueError("components of an array have gaps between them: pass arrays whose component axes are in C order, or each component alone")
        return [parts.native() for parts in fields], [array for parts in fields for array in parts.arrays]

    def __repr__(self) -> str:
        return "<PointSums>"

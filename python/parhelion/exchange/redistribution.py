"""Redistribution between domains of the same cells."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from ..base.arguments import exchange_options, integers
from ..base.handles import not_pickled
from ..base.together import setup_limit, together
from ..domain.cartesian import CartesianDomain
from ..domain.indexed import IndexedDomain
from ..domain.fields import Parts, read_groups
from .pattern import pattern_of

Domain = CartesianDomain | IndexedDomain
_Read = tuple[list[tuple[_core.Field, _core.Field]], list[np.ndarray]]  # fields and their arrays


class Redistribution:
    """Move owned values between two domains of the same cells on one communicator. Construction is collective.

    The domains may differ in process grid, splits or partition, and ranks may own nothing in one of them. Ghosts are neither read nor written.
    Grids: each rank computes its messages alone. Index maps: equal global ids match. One message per pair of ranks carries all arrays of a call.

    Args:
        source: a CartesianDomain, or an IndexedDomain.
        target: another one of equal extents, or of the same global ids.
        transport: as for an Exchange.
        timeout: as for an Exchange.
        axes: for grids: axis d of `target` is axis `axes[d]` of `source`, as in `numpy.transpose`. This keeps the undivided axis of an FFT's
            pencils contiguous.

    Raises ValueError or TypeError on every rank for domains with different cells or communicators, and for axes that are not a permutation or differ.

        redistribute = ph.Redistribution(rows, columns)
        redistribute(u, v)                       # u of rows → v of columns
        redistribute.back((u, v), (p, q))        # v → u and q → p, in the same messages
    """

    __reduce__ = not_pickled

    def __init__(self, source: Domain, target: Domain, transport: str | None = None, timeout: float | None = None,
                 axes: Sequence[int] | None = None) -> None:
        def check() -> tuple[Any, ...]:
            kinds = {type(domain) if isinstance(domain, CartesianDomain) else IndexedDomain for domain in (source, target)}
            if len(kinds) > 1 or not all(isinstance(domain, (CartesianDomain, IndexedDomain)) for domain in (source, target)):
                raise TypeError("redistribute between two CartesianDomains, or two IndexedDomains")
            options = exchange_options(transport, timeout)
            if isinstance(source, CartesianDomain):
                return options, [] if axes is None else integers(axes, "axes")
            if axes is not None:
                raise ValueError("cells of index maps have no axes: leave `axes` out")
            return (options,)

        comm = getattr(source, "_native_comm", None) or getattr(target, "_native_comm", None)
        if comm is None:
            raise TypeError("redistribute between two CartesianDomains, or two IndexedDomains")
        self._comm, self._limit, self._called = comm, setup_limit(timeout), False
        options_and_axes = together(comm, check, self._limit)
        self._read_from = [
            each if isinstance(each, CartesianDomain) else pattern_of(each, self._limit)._native for each in (source, target)
        ]
        before: Any = source._native  # of one kind, as `check` ensures
        after: Any = target._native
        self._native = _core.Redistribution(before, after, *options_and_axes)

    def __call__(self, source: Any, target: Any) -> None:
        """Move owned values of `source`, an array of the first domain, to `target`, one of the second."""
        self.forward((source, target))

    def forward(self, *pairs: tuple[Any, Any]) -> None:
        """Move any number of pairs (source, target) in one message per pair of ranks.

        Arrays as for an Exchange of their domain; those without halo need a Field. Sources may be read-only. Both arrays of a pair have the same dtype and number of components.
        The first call for such arrays is collective. Raises ValueError or TypeError for arrays that do not fit or overlap; the very first call raises
        on every rank.
        """
        self._native.forward(*self._read(pairs))
        self._called = True

    def prepare(self, *pairs: tuple[Any, Any]) -> None:
        """Do the set-up of the first move of such arrays; no effect afterwards. Collective."""
        self._native.prepare(*self._read(pairs))
        self._called = True

    def back(self, *pairs: tuple[Any, Any]) -> None:
        """Move in reverse: each `target` → `source`."""
        self._native.back(*self._read(pairs, 1))
        self._called = True

    def explain(self) -> str:
        """Numbers of cells that stay, and of those sent to each rank."""
        return self._native.explain()

    def _read(self, pairs: tuple[tuple[Any, Any], ...], source: int = 0) -> _Read:
        return self._fields(pairs, source) if self._called else together(self._comm, lambda: self._fields(pairs, source), self._limit)

    def _fields(self, pairs: tuple[tuple[Any, Any], ...], source: int) -> _Read:
        if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise TypeError("pass pairs of arrays: redistribute.forward((u, v), (p, q))")
        sides = read_groups(self._read_from, list(zip(*pairs, strict=True)), only_read=source)
        for number, (one, other) in enumerate(zip(*sides, strict=True)):
            _require_alike(one, other, number)
        natives = [(one.native(), other.native()) for one, other in zip(*sides, strict=True)]
        return natives, [array for side in sides for parts in side for array in parts.arrays]

    def __repr__(self) -> str:
        return "<Redistribution>"


def _require_alike(source: Parts, target: Parts, number: int) -> None:
    kinds = [parts.arrays[0].dtype for parts in (source, target)]
    if kinds[0] != kinds[1] or math.prod(source.components) != math.prod(target.components):
        shapes = [f"{kind} × {math.prod(parts.components)}" for kind, parts in zip(kinds, (source, target), strict=True)]
        raise TypeError(f"pair {number} has {shapes[0]} and {shapes[1]}: pass arrays of equal dtypes and components")
    if source.depth or target.depth:
        raise ValueError(f"components of pair {number} have gaps between them: pass arrays whose component axes are in C order, or each component alone")

"""User-defined reductions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..domain.fields import element_name

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class Reduction(_core.Reduction):
    """An associative function of the program, for `reverse` and `reduce_shared`.

    It need not be commutative: exchanges combine values in ascending order of rank, so that results repeat bit for bit. A call combines whole rows,
    about one per neighbor and array, at the speed of NumPy for a ufunc.

    Args:
        function: takes two rows (n,) of `dtype`, valid until it returns, and returns their combination. Its exceptions surface at the end of
            the exchange; ranks that need its values get a ValueError that names this rank.
        dtype: of the arrays: numbers, or structures of them. Each component of a cell is an element.

    For example, the sum of values stored as logarithms:

        log_sum = ph.Reduction(np.logaddexp, "float64")
        exchange.reverse(log_sum, u)
    """

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], Any], dtype: "DTypeLike") -> None:
        if not callable(function):
            raise TypeError(f"{function!r} is not a function: pass one of two arrays, such as a NumPy ufunc")
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError("Python objects cannot be sent: pass a dtype of numbers, or of structures of numbers")
        self._made_of = function, kind
        super().__init__(element_name(kind), partial(_combine, function, kind))

    def __reduce__(self) -> Any:
        return Reduction, self._made_of


def _combine(function: Callable[[np.ndarray, np.ndarray], Any], dtype: np.dtype, into: memoryview, other: memoryview) -> None:
    values = np.frombuffer(into, dtype)
    combined = np.asarray(function(values, np.frombuffer(other, dtype)))
    if combined.shape != values.shape:
        raise ValueError(f"a reduction returned shape {combined.shape} for two rows of shape {values.shape}: return the row of their combinations")
    if not np.can_cast(combined.dtype, dtype, "same_kind"):
        raise TypeError(f"a reduction of {dtype} returned {combined.dtype}, which it cannot hold without loss: return values of its kind")
    values[...] = combined

"""Replacement of `veros.distributed.exchange_overlap` by Parhelion: all code that a port of Veros needs."""

from itertools import zip_longest
from typing import Any

import numpy as np
from veros import runtime_settings
from veros.distributed import SCATTERED_DIMENSIONS, exchange_overlap

import parhelion as ph

OVERLAP = 2


class WithParhelion:
    """Has the signature of Veros's exchange and returns a new array, as Veros's are immutable. Keeps one exchange per kind of array."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        self.kinds: dict[Any, Any] = {}

    def __call__(self, arr: Any, var_grid: Any, cyclic: bool) -> Any:
        if any(dim not in wanted for dim, wanted in zip_longest(var_grid[:2], SCATTERED_DIMENSIONS, fillvalue=())):
            return exchange_overlap(arr, var_grid, cyclic)  # along one dimension: only during set-up
        key = (arr.shape, arr.dtype, cyclic)
        if key not in self.kinds:
            self.kinds[key] = self._make(*key)
        array, exchange = self.kinds[key]
        array[...] = arr
        exchange()
        return array.copy()

    def _make(self, shape: tuple[int, ...], dtype: np.dtype, cyclic: bool) -> Any:
        ranks = runtime_settings.num_proc
        cells = tuple((shape[d] - 2 * OVERLAP) * ranks[d] for d in range(2))
        # Outside non-periodic boundaries the rank owns the halo, so that corner values come from it.
        domain = ph.CartesianDomain(cells, halo=OVERLAP, periodic=(cyclic, False), boundary="owned", process_grid=ranks, rank_order="first",
                                    comm=runtime_settings.mpi_comm)
        array = domain.zeros(dtype, components=shape[2:] or None)
        return np.asarray(array), ph.Exchange(domain, array, transport=self.transport)

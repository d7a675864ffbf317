"""The library in place of `veros.distributed.exchange_overlap`: the whole of what a port of Veros takes."""

from itertools import zip_longest
from typing import Any

import numpy as np
from veros import runtime_settings, runtime_state
from veros.distributed import SCATTERED_DIMENSIONS, exchange_overlap, proc_rank_to_index

import parhelion as ph

OVERLAP = 2


def cut(cells: int, ranks: int, cyclic: bool) -> list[int]:
    """Cells of each rank. Beyond an end the layers belong to the rank there, so that corners get them from it."""
    sizes = [cells // ranks] * ranks
    if not cyclic:
        sizes[0] += OVERLAP
        sizes[-1] += OVERLAP
    return sizes


def inside(place: int, ranks: int, cyclic: bool, length: int) -> slice:
    """Where Veros's array lies in ours, which has a halo beyond ends that are not cyclic, too."""
    first = OVERLAP if place == 0 and not cyclic else 0
    return slice(first, first + length)


class WithParhelion:
    """Called as Veros calls its own. Arrays of Veros are values: a new one is returned. One exchange for each kind of array is kept."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        self.kinds: dict[Any, Any] = {}

    def __call__(self, arr: Any, var_grid: Any, cyclic: bool) -> Any:
        if any(dim not in wanted for dim, wanted in zip_longest(var_grid[:2], SCATTERED_DIMENSIONS, fillvalue=())):
            return exchange_overlap(arr, var_grid, cyclic)  # along one dimension: a few times while the model is set up
        key = (arr.shape, arr.dtype, cyclic)
        if key not in self.kinds:
            self.kinds[key] = self._make(*key)
        array, exchange = self.kinds[key]
        array[...] = arr
        exchange()
        return array.copy()

    def _make(self, shape: tuple[int, ...], dtype: np.dtype, cyclic: bool) -> Any:
        ranks, place = runtime_settings.num_proc, proc_rank_to_index(runtime_state.proc_rank)
        comm = runtime_settings.mpi_comm.Split(0, place[0] * ranks[1] + place[1])  # Veros numbers ranks with x fastest
        periodic = (cyclic, False)
        splits = tuple(cut((shape[d] - 2 * OVERLAP) * ranks[d], ranks[d], periodic[d]) for d in range(2))
        domain = ph.CartesianDomain(tuple(map(sum, splits)), halo=OVERLAP, periodic=periodic, process_grid=ranks, splits=splits, comm=comm)
        whole = domain.zeros(dtype, components=shape[2:] or None)
        exchange = ph.Exchange(domain, whole, transport=self.transport)
        array = np.asarray(whole)[tuple(inside(place[d], ranks[d], periodic[d], shape[d]) for d in range(2))]
        return array, exchange

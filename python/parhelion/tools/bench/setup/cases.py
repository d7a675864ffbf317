"""The cases of `bench setup`: the same grid over more and more ranks."""

from __future__ import annotations

from itertools import product

from ....launch import usable_cores
from ...measuring.launcher import launched_ranks
from ...measuring.measurement import Group
from ..halo.cases import halo_group

USUAL_MOST = 8


def setup_groups(
    ranks: tuple[int, ...] | None,
    extent: tuple[int, ...],
    halo: int,
    fields: int,
    element: tuple[str, ...],
    transport: tuple[str, ...],
) -> list[Group]:
    """One group per rank count; checks are those of the halo exchange."""
    return [_group(count, extent, halo, fields, element, transport) for count in dict.fromkeys(ranks or usual_ranks())]


def usual_ranks() -> tuple[int, ...]:
    """1, 2, 4, … up to 8, or to the usable cores where there are more; what a launcher decided, if one did."""
    decided = launched_ranks()
    if decided:
        return (decided,)
    most = max(USUAL_MOST, usable_cores())
    return tuple(2**power for power in range(most.bit_length()) if 2**power <= most)


def _group(
    ranks: int, extent: tuple[int, ...], halo: int, fields: int, element: tuple[str, ...], transport: tuple[str, ...]
) -> Group:
    group = halo_group(ranks, None, extent, (halo,), (fields,), element, (1,), "full", "F", False)
    return Group(ranks, [{**case, "transport": way} for case, way in product(group.cases, transport)])

"""The cases of `bench alltoall`."""

from __future__ import annotations

import os

from ....launch import usable_cores
from ...cli.errors import BadInput
from ...measuring.launcher import launched_ranks
from ...measuring.measurement import Group

BUFFERS = 10  # of all contenders together, in multiples of what one rank sends


def alltoall_groups(ranks: tuple[int, ...] | None, sizes: tuple[int, ...]) -> list[Group]:
    """One group per rank count, each with all sizes; checked against this host's memory."""
    counts = ranks or (launched_ranks() or max(2, usable_cores()),)
    _check_memory(max(counts), max(sizes))
    return [Group(count, [{"size": size} for size in sizes]) for count in dict.fromkeys(counts)]


def program_options(first: tuple[int, ...] | None, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """What the measuring program is told on its command line: the size of the call that precedes everything."""
    if first and len(first) != 1:
        raise BadInput(f"--first-size has {len(first)} sizes: give one, for a process makes its connections once")
    return ("--cold-alltoall", str((first or sizes)[0]))


def _check_memory(ranks: int, size: int) -> None:
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = BUFFERS * ranks * ranks * size
    if needed > here and launched_ranks() is None:
        raise BadInput(f"an alltoall of {size} B on {ranks} ranks takes {needed / 2**30:,.0f} GiB with all contenders, this host "
                       f"has {here / 2**30:,.0f}: use smaller sizes or fewer --ranks")  # fmt: skip

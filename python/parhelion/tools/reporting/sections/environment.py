"""What the ranks of a run told, as names and values."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.facts import Facts, flatten
from ...records.model import Launch


def launch_facts(launches: Sequence[Launch]) -> Facts:
    """What the ranks themselves told; launches that told the same are named once."""
    told: dict[str, list[int]] = {}
    for launch in launches:
        facts = {"flavor": launch.flavor, "ranks": launch.ranks, **launch.mpi, "hosts": sorted(set(map(str, launch.hosts))),
                 "binding": launch.binding, "bound by": launch.bound_by, "libraries": launch.libraries,
                 "control variables": launch.cvars}  # fmt: skip
        for name, value in flatten(facts):
            told.setdefault(f"{name}\0{value}", []).append(launch.launch)
    result = [_named(key, numbers, len(launches)) for key, numbers in told.items()]
    times = ", ".join(f"{launch.mpi_init_s * 1e3:.1f} ms" for launch in launches if launch.mpi_init_s is not None)
    return [*result, *([("MPI_Init, per launch", times)] if times else [])]


def _named(key: str, numbers: list[int], launches: int) -> tuple[str, str]:
    name, _, value = key.partition("\0")
    some = len(numbers) < launches
    return (f"{name} (launch {', '.join(str(number + 1) for number in numbers)})" if some else name, value)

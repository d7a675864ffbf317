"""What the ranks of a run told, and where they stood: hosts and cores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...records.facts import Facts, flatten
from ...records.model import Launch

MOST_HOSTS = 64


@dataclass(frozen=True)
class Host:
    """One host with its ranks; `cores` maps a rank to the hardware threads that it could use."""

    name: str
    cores: dict[int, list[int]]

    @property
    def crowded(self) -> set[int]:
        """Ranks that shared every hardware thread they could use with another rank, and were alone nowhere."""
        users: dict[int, int] = {}
        for threads in self.cores.values():
            for thread in threads:
                users[thread] = users.get(thread, 0) + 1
        return {rank for rank, threads in self.cores.items() if threads and all(users[thread] > 1 for thread in threads)}


@dataclass(frozen=True)
class Mapping:
    """One way of placing ranks, with the launches (from 1) that had it."""

    launches: list[int]
    bound_by: str
    hosts: list[Host]
    left_out: int


def mappings(launches: Sequence[Launch]) -> list[Mapping]:
    """Every different placement, in the order in which it was first met; launches that told nothing are left out."""
    found: dict[str, Mapping] = {}
    for launch in launches:
        hosts = _hosts(launch)
        if hosts:
            made = Mapping([], str(launch.bound_by or "nobody"), hosts[:MOST_HOSTS], max(0, len(hosts) - MOST_HOSTS))
            found.setdefault(repr((made.bound_by, hosts)), made).launches.append(launch.launch + 1)
    return list(found.values())


def _hosts(launch: Launch) -> list[Host]:
    if not launch.hosts or len(launch.hosts) != len(launch.binding):
        return []
    names = list(dict.fromkeys(map(str, launch.hosts)))
    return [Host(name, {rank: _threads(binding) for rank, (host, binding) in enumerate(zip(launch.hosts, launch.binding, strict=True))
                        if str(host) == name}) for name in names]  # fmt: skip


def _threads(binding: Any) -> list[int]:
    return [thread for thread in binding if isinstance(thread, int)] if isinstance(binding, list) else []


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

"""Every check of the machine, a line each. A probe does the thing itself (`probes`)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .probes import Finding, dev_shm, futex, huge_pages, hwloc, libfabric, locked_memory, memfd, process_vm_readv, ucx, xpmem


@dataclass(frozen=True)
class Check:
    """`name` is that of the probe's finding, `needed_for` says who misses what does not work, containers above all.

    `missed`: whose remedy is told first, 1 before 2; None for none. Exchanges do well without what is `welcome`.
    """

    name: str
    probe: Callable[[], Finding]
    needed_for: str
    missed: int | None = None
    welcome: bool = False


CHECKS = (
    Check("process_vm_readv", process_vm_readv, "long messages of many MPIs", missed=4),
    Check("XPMEM", xpmem, "xpmem", missed=9, welcome=True),
    Check("/dev/shm", dev_shm, "MPI itself; this library does without", missed=3),
    Check("memfd", memfd, "shared, staged_shared", missed=1),
    Check("futex", futex, "ranks that sleep while they wait", missed=2),
    Check("locked memory", locked_memory, "networks that write into memory themselves, such as InfiniBand", missed=6),
    Check("huge pages for shared memory", huge_pages, "large arrays", missed=8, welcome=True),
    Check("UCX", ucx, "ucx between nodes", missed=5),
    Check("libfabric", libfabric, "MPIs that bring none"),
    Check("hwloc", hwloc, "placement by caches", missed=7),
)


def machine_findings() -> list[Finding]:
    """Every probe, tried now."""
    return [replace(check.probe(), needed_for=check.needed_for) for check in CHECKS]


def most_missed(*, welcome: bool) -> list[str]:
    """Names of what is missed where it does not work, most of all the first; with `welcome` of what exchanges do well without."""
    told = [(check.missed, check.name) for check in CHECKS if check.missed and check.welcome == welcome]
    return [name for _, name in sorted(told)]

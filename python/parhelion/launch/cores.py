"""How many ranks can run at the same time without sharing a core."""

import math
import os
from pathlib import Path

TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/{}"
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores() -> int:
    """Cores (not hardware threads) that this process may use, at least 1.

    The smaller of the cores in the affinity mask and the container's CPU quota.
    """
    cores = physical_cores(os.sched_getaffinity(0))
    quota = cpu_quota(QUOTA)
    return max(1, cores if quota is None else min(cores, quota))


def physical_cores(cpus: set[int]) -> int:
    """Number of distinct cores among hardware threads `cpus`."""
    return len({_siblings(cpu) for cpu in cpus})


def cpu_quota(path: Path) -> int | None:
    """Whole cores that the control group grants, rounded up; None without a limit."""
    try:
        limit, period = path.read_text().split()
    except (OSError, ValueError):
        return None
    return None if limit == "max" else math.ceil(int(limit) / int(period))


def _siblings(cpu: int) -> str:
    for name in ("core_cpus_list", "thread_siblings_list"):
        try:
            return Path(TOPOLOGY.format(cpu, name)).read_text().strip()
        except OSError:
            continue
    return str(cpu)

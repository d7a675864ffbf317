"""How many ranks can run at the same time without sharing a core. The library's own count is `src/core/cores.cpp`: both
agree (`tests/python/launch/test_cores.py`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator
from pathlib import Path

SYSTEM = Path("/")  # parent of /proc and /sys
CPUS, GROUPS = "sys/devices/system/cpu", "sys/fs/cgroup"


def usable_cores(cpus: Collection[int] | None = None, system: Path = SYSTEM) -> int:
    """Cores that processes on these hardware threads (by default: on all that this process may use) can have at once, at least 1.

    No more than the control group grants time for.
    """
    cores = physical_cores(os.sched_getaffinity(0) if cpus is None else cpus, system)
    quota = cpu_quota(system)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def physical_cores(cpus: Collection[int], system: Path = SYSTEM) -> int:
    return len({_siblings(cpu, system) for cpu in cpus})


def cpu_quota(system: Path = SYSTEM) -> float | None:
    """How many processors' worth of time the control group of this process and those around it grant; None without a limit."""
    told = [_read(folder / "cpu.max") or _version_1(folder) for folder in _groups(system)]
    pairs = [text.split() for text in told if text]
    limits = [int(quota) / int(period) for quota, period in (pair for pair in pairs if len(pair) == 2) if quota.isdigit() and int(quota) > 0]
    return min(limits, default=None)


def _version_1(folder: Path) -> str:
    return " ".join(_read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))


def _groups(system: Path) -> Iterator[Path]:
    """Folders that may limit this process: its group's and all above. A container often sees its own group as the uppermost one."""
    for line in _read(system / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" or "cpu" in controllers.split(","):
            top = system / GROUPS / controllers
            own = top / os.path.normpath("/" + path).lstrip("/")
            yield from (folder for folder in (own, *own.parents) if folder == top or top in folder.parents)


def _siblings(cpu: int, system: Path) -> str:
    names = ("core_cpus_list", "thread_siblings_list")
    return next(filter(None, (_read(system / CPUS / f"cpu{cpu}/topology/{name}") for name in names)), str(cpu))


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""

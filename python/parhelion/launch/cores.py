"""Cores that ranks can use without sharing, and threads per rank; must agree with `src/core/resources.cpp` (`tests/python/launch/test_cores.py`)."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

SYSTEM = Path("/")  # root of /proc and /sys
CPUS, GROUPS = "sys/devices/system/cpu", "sys/fs/cgroup"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def usable_cores(cpus: Collection[int] | None = None, system: Path = SYSTEM) -> int:
    """Return the number of physical cores, at least 1, of the hardware threads `cpus` (default: this process's affinity mask).

    The control group's CPU quota limits it. Local.
    """
    cores = physical_cores(os.sched_getaffinity(0) if cpus is None else cpus, system)
    quota = cpu_quota(system)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def physical_cores(cpus: Collection[int], system: Path = SYSTEM) -> int:
    return len({_siblings(cpu, system) for cpu in cpus})


def cpu_quota(system: Path = SYSTEM) -> float | None:
    """Return the lowest CPU quota of this process's control group and its ancestors, in processors; None if unlimited."""
    told = [_read(folder / "cpu.max") or _version_1(folder) for folder in _groups(system)]
    pairs = [text.split() for text in told if text]
    limits = [int(quota) / int(period) for quota, period in (pair for pair in pairs if len(pair) == 2) if quota.isdigit() and int(quota) > 0]
    return min(limits, default=None)


def single_threaded(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return variables for one thread per rank, and notes; keeps variables that are set."""
    added = {name: "1" for name in THREADS if name not in env}
    kept = [f"{name}={env[name]}" for name in THREADS if name in env]
    notes = [f"{', '.join(kept)} kept from the environment"] if kept else []
    if added:
        notes.insert(0, f"{', '.join(added)} set to 1")
    return added, notes


def _version_1(folder: Path) -> str:
    return " ".join(_read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))


def _groups(system: Path) -> Iterator[Path]:
    """Yield this process's control groups, innermost first; containers often see their own group as the root."""
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

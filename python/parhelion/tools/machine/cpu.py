"""Processor, caches, cores and NUMA domains, from /proc and /sys."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from .files import parse_list, parse_size, read_int, read_text

CPUS = Path("/sys/devices/system/cpu")
NODES = Path("/sys/devices/system/node")


def cpu() -> dict[str, Any]:
    """Model, usable cores and hardware threads, caches, frequency governor."""
    usable = usable_cpus()
    return {
        "model": model(),
        "architecture": platform.machine(),
        "hardware_threads": os.cpu_count(),
        "usable_threads": len(usable),
        "usable_cores": len(usable_cores()),
        "sockets": len({read_int(CPUS / f"cpu{number}/topology/physical_package_id") for number in usable}),
        "caches": caches(usable[0] if usable else 0),
        "governor": read_text(CPUS / "cpu0/cpufreq/scaling_governor"),
        "boost": read_text(CPUS / "cpufreq/boost"),
        "hypervisor": is_virtual(),
    }


def model() -> str:
    """The name that the processor gives itself."""
    for line in (read_text("/proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.processor() or platform.machine()


def is_virtual() -> bool:
    """Whether the processor says that it runs under a hypervisor."""
    return any(
        "hypervisor" in line.split() for line in (read_text("/proc/cpuinfo") or "").splitlines() if line.startswith("flags")
    )


def usable_cpus() -> list[int]:
    """Hardware threads that this process may use: the affinity mask, not the whole machine."""
    return sorted(os.sched_getaffinity(0))


def usable_cores() -> list[tuple[int, ...]]:
    """Usable hardware threads, grouped by the physical core that they share."""
    usable = usable_cpus()
    cores = {tuple(n for n in _siblings(number) if n in usable) or (number,) for number in usable}
    return sorted(cores)


def _siblings(number: int) -> list[int]:
    text = read_text(CPUS / f"cpu{number}/topology/thread_siblings_list")
    return parse_list(text) if text else [number]


def caches(number: int) -> list[dict[str, Any]]:
    """Each cache that a hardware thread sees: level, type, bytes, and the threads that share it."""
    found = []
    for index in sorted((CPUS / f"cpu{number}/cache").glob("index*")):
        size, shared = read_text(index / "size"), read_text(index / "shared_cpu_list")
        if size:
            level, kind = read_int(index / "level"), read_text(index / "type")
            found.append({"level": level, "type": kind, "bytes": parse_size(size), "shared_by": shared})
    return found


def numa() -> list[dict[str, Any]]:
    """NUMA domains with their hardware threads and memory."""
    return [
        {"node": int(node.name[4:]), "cpus": read_text(node / "cpulist"), "memory_bytes": _node_memory(node)}
        for node in sorted(NODES.glob("node[0-9]*"))
    ]


def _node_memory(node: Path) -> int | None:
    for line in (read_text(node / "meminfo") or "").splitlines():
        if "MemTotal:" in line:
            return int(line.split()[-2]) * 1024
    return None

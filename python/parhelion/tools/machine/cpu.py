"""Processor, caches, cores and NUMA domains, from /proc and /sys."""

import os
import platform
from pathlib import Path
from typing import Any

from ...launch import usable_cores
from .files import parse_size, read_int, read_text

CPUS = Path("/sys/devices/system/cpu")
NODES = Path("/sys/devices/system/node")


def cpu() -> dict[str, Any]:
    """Model, usable cores and hardware threads, caches, frequency governor."""
    usable = sorted(os.sched_getaffinity(0))  # not the whole machine
    return {
        "model": model(),
        "architecture": platform.machine(),
        "hardware_threads": os.cpu_count(),
        "usable_threads": len(usable),
        "usable_cores": usable_cores(),
        "sockets": len({read_int(CPUS / f"cpu{number}/topology/physical_package_id") for number in usable}),
        "caches": caches(usable[0]),
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

"""The environment of a run as one JSON object."""

from __future__ import annotations

import os
import platform
from typing import Any

from .cpu import cpu, numa
from .files import read_text
from .limits import limits
from .software import software
from .variables import variables


def collect(ranks: int | None = None) -> dict[str, Any]:
    """What figures of a run with `ranks` ranks on this host depend on. Local; starts no MPI."""
    processor = cpu()
    return {
        "host": platform.node(),
        "cpu": processor,
        "numa": numa(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": read_text("/proc/loadavg"),
        "oversubscribed": ranks > processor["usable_cores"] if ranks else None,
        "limits": limits(),
        "software": software(),
        "variables": variables(),
        "transparent_huge_pages": read_text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "numa_balancing": read_text("/proc/sys/kernel/numa_balancing"),
    }

"""The environment of a run as one JSON object."""

import os
import platform
from pathlib import Path
from typing import Any

from ..records.variables import variables
from .cpu import cpu, numa
from .files import read_text
from .limits import limits
from .software import software


def collect(source: Path | None = None) -> dict[str, Any]:
    """What figures of a run on this host depend on; `source` is the tree that was built, by default this one. Local; starts no MPI."""
    return {
        "host": platform.node(),
        "cpu": cpu(),
        "numa": numa(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": read_text("/proc/loadavg"),
        "limits": limits(),
        "software": software(source),
        "variables": variables(),
        "transparent_huge_pages": read_text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "numa_balancing": read_text("/proc/sys/kernel/numa_balancing"),
    }

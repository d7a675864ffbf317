"""Limits that a container or a batch system puts on this process."""

import resource
from pathlib import Path
from typing import Any

from ...launch.cores import cpu_quota
from .files import read_text

CGROUP = Path("/sys/fs/cgroup")


def limits() -> dict[str, Any]:
    """Container, cgroup limits on processors and memory, and what may be locked in memory."""
    return {
        "container": container(),
        "cgroup_cpus": cpu_quota(),
        "cgroup_memory_bytes": cgroup_memory(),
        "locked_memory_bytes": _limit(resource.RLIMIT_MEMLOCK),
        "stack_bytes": _limit(resource.RLIMIT_STACK),
        "processes": _limit(resource.RLIMIT_NPROC),
    }


def container() -> str | None:
    """The kind of container that this process runs in, as far as it shows."""
    for marker, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/.singularity.d", "apptainer")):
        if Path(marker).exists():
            return name
    environ = read_text("/proc/1/environ") or ""
    return next((part[10:] for part in environ.split("\0") if part.startswith("container=")), None)


def cgroup_memory() -> int | None:
    """Bytes of memory that the cgroup grants; `None` for no limit."""
    text = read_text(CGROUP / "memory.max") or read_text(CGROUP / "memory/memory.limit_in_bytes") or "max"
    return int(text) if text.isdigit() and int(text) < 2**60 else None


def _limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft

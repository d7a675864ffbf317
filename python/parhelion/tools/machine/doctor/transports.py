"""Which transports work on this machine, out of what they need from it: memory, and libraries that are loaded at run time."""

import ctypes
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from .probes import Finding, dev_shm, futex, huge_pages, in_child, locked_memory, memfd, process_vm_readv, xpmem


def hwloc() -> Finding:
    """The library that knows caches, NUMA domains and sockets."""
    return _library("hwloc", ["libhwloc.so.15", "libhwloc.so.5"], "hwloc_get_api_version",
                    "install libhwloc (Debian: libhwloc15); without it the topology comes from /sys")  # fmt: skip


def ucx() -> Finding:
    """Unified Communication X, for exchanges between hosts."""
    wheels = sorted(Path(sysconfig.get_path("purelib")).glob("libucx/lib/libucp.so*"))
    return _library("UCX", ["libucp.so.0", *map(str, wheels)], None, "install libucx0, or the wheel libucx-cu12")


def libfabric() -> Finding:
    """Open Fabrics Interfaces, which MPIs use for networks."""
    return _library("libfabric", ["libfabric.so.1"], None, "install libfabric1; MPI wheels bundle their own")


def _library(name: str, candidates: Iterable[str], version: str | None, remedy: str) -> Finding:
    reasons = []
    for candidate in candidates:
        try:
            # In a child: what is loaded for a look must not stay in this process.
            return Finding(name, True, in_child(lambda file=candidate: _load(file, version)))
        except OSError as error:
            reasons.append(str(error))
    return Finding(name, False, reasons[0], remedy)


def _load(file: str, version: str | None) -> str:
    library = ctypes.CDLL(file)
    if version is None:
        return file
    number = getattr(library, version)()
    return f"{file}, API {number >> 16}.{number >> 8 & 255}"


# What each transport needs from the machine; over MPI nothing is needed but a build.
NEEDS = {
    "shared": ("memfd", "futex"),
    "staged_shared": ("memfd", "futex"),
    "cma": ("process_vm_readv",),
    "xpmem": ("XPMEM",),
    "ucx": ("UCX",),
}
# Who misses what does not work, containers above all.
NEEDED_FOR = {
    "process_vm_readv": "cma, and long messages of many MPIs",
    "XPMEM": "xpmem",
    "/dev/shm": "MPI itself; this library does without",
    "memfd": "shared, staged_shared",
    "futex": "ranks that sleep while they wait",
    "locked memory": "networks that write into memory themselves, such as InfiniBand",
    "huge pages for shared memory": "large arrays",
    "UCX": "ucx between nodes",
    "libfabric": "MPIs that bring none",
    "hwloc": "placement by caches",
}
OVER_MPI = ("mpi_p2p", "mpi_persistent", "mpi_neighbor", "mpi_partitioned")


def machine_findings() -> list[Finding]:
    """Every probe, tried now."""
    probes = (process_vm_readv, xpmem, dev_shm, memfd, futex, locked_memory, huge_pages, ucx, libfabric, hwloc)
    return [replace(found, needed_for=NEEDED_FOR[found.name]) for found in (probe() for probe in probes)]


def transports(findings: list[Finding], built: Mapping[str, str]) -> list[Finding]:
    """What follows for each transport from the machine, and from the builds: name → why none can use it, or ""."""
    by_name = {finding.name: finding for finding in findings}
    loopback = Finding("loopback", True, "a rank that is its own neighbor copies within its memory")
    over_mpi = [Finding(name, True, "needs nothing but MPI") for name in OVER_MPI]
    others = [_from_needs(name, [by_name[need] for need in needs]) for name, needs in NEEDS.items()]
    return [loopback, *(_if_built(finding, built) for finding in (*over_mpi, *others))]


def _if_built(finding: Finding, built: Mapping[str, str]) -> Finding:
    why_not = built.get(finding.name)
    if finding.name == "ucx" and why_not == "":  # most MPIs bring a UCX of their own
        return Finding("ucx", True, "a build found its library")
    if why_not == "" or not finding.works:
        return finding
    if not built:
        return Finding(finding.name, False, f"no build is there ({finding.detail})", "run `make build`")
    if why_not:
        return Finding(finding.name, False, why_not)
    return Finding(finding.name, False, f"the machine allows it, but no build has it ({finding.detail})")


def usable_by_any(builds: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Name → "" where one of the builds can use a transport, else why the last cannot."""
    together: dict[str, str] = {}
    for build in builds:
        for name, why_not in build.items():
            together[name] = "" if together.get(name) == "" else why_not
    return together


def _from_needs(name: str, needs: list[Finding]) -> Finding:
    missing = [need for need in needs if not need.works]
    if not missing:
        return Finding(name, True, f"{', '.join(need.name for need in needs)} tried and found working")
    first = missing[0]
    return Finding(name, False, f"{first.name}: {first.detail}", first.remedy)

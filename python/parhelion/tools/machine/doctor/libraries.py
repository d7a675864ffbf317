"""Libraries that are loaded at run time where they are."""

import ctypes
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from .finding import Finding, in_child


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

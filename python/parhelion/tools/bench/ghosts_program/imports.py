"""What Python costs every rank before it can do anything: hundreds of them import at once from a cluster's file system."""

import sys
import time
from collections.abc import Callable


def timed_imports(before_s: float) -> dict[str, float]:
    """Seconds for NumPy, for mpi4py (which starts MPI) and for the first use of the package; `before_s` is what came before."""
    return {
        "interpreter_s": before_s,
        "numpy_s": _seconds(_numpy),
        "mpi4py_and_mpi_init_s": _seconds(_mpi),
        "parhelion_s": _seconds(_parhelion),
        "modules": float(len(sys.modules)),
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _numpy() -> object:
    import numpy

    return numpy


def _mpi() -> object:
    from mpi4py import MPI

    return MPI


def _parhelion() -> object:
    import parhelion as ph

    return ph.GhostExchange

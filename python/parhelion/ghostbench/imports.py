"""What Python costs every rank before it can do anything: hundreds of them import at once from a cluster's file system."""

import sys
import time


def timed_imports(start: float) -> dict[str, float]:
    """Seconds for the package alone, for mpi4py (which starts MPI) and NumPy, and for the package's first use."""
    package = time.perf_counter() - start
    began = time.perf_counter()
    import numpy  # noqa: F401

    numpy_s = time.perf_counter() - began
    began = time.perf_counter()
    from mpi4py import MPI  # noqa: F401

    mpi_s = time.perf_counter() - began
    began = time.perf_counter()
    import parhelion as ph

    _ = ph.GhostExchange
    use_s = time.perf_counter() - began
    return {"interpreter_s": _interpreter_s(), "parhelion_s": package, "numpy_s": numpy_s, "mpi4py_and_mpi_init_s": mpi_s,
            "first_use_s": use_s, "modules": float(len(sys.modules))}  # fmt: skip


def _interpreter_s() -> float:
    """Processor time that this process took before it measured anything: the interpreter's own start."""
    import os

    times = os.times()
    return times.user + times.system

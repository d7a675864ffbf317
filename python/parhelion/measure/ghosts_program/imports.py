"""What Python costs every rank before it can do anything: hundreds of them import at once from a cluster's file system."""

import importlib
import sys
import time


def timed_imports(before_s: float) -> dict[str, float]:
    """Seconds for NumPy, for mpi4py (which starts MPI) and for the first use of the package; `before_s` is what came before."""
    return {
        "interpreter_s": before_s,
        "numpy_s": _seconds("numpy"),
        "mpi4py_and_mpi_init_s": _seconds("mpi4py.MPI"),
        "parhelion_s": _seconds("parhelion", "GhostExchange"),
        "modules": float(len(sys.modules)),
    }


def _seconds(module: str, *names: str) -> float:
    start = time.perf_counter()
    imported = importlib.import_module(module)
    for name in names:
        getattr(imported, name)  # the package loads what is asked for
    return time.perf_counter() - start

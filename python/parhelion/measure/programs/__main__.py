"""Run the measuring program. Exit status: 0; 1 if a value was wrong; 2 for bad input."""

import importlib
import sys
import time

BEFORE_S = time.process_time()  # CPU time of the interpreter and the package


def timed_imports() -> dict[str, float]:
    """Return the import times of NumPy, mpi4py (with MPI_Init) and Parhelion: on a cluster, hundreds of ranks import from one file system at once."""
    return {
        "interpreter_s": BEFORE_S,
        "numpy_s": _seconds("numpy"),
        "mpi4py_and_mpi_init_s": _seconds("mpi4py.MPI"),
        "parhelion_s": _seconds("parhelion", "IndexMap"),
        "modules": float(len(sys.modules)),
    }


def _seconds(module: str, *names: str) -> float:
    start = time.perf_counter()
    imported = importlib.import_module(module)
    for name in names:
        getattr(imported, name)  # the package imports names lazily
    return time.perf_counter() - start


if __name__ == "__main__":
    imports = timed_imports()
    program = importlib.import_module(".veros" if sys.argv[1:2] == ["apps"] else ".ghosts", __package__)
    from .protocol import main

    raise SystemExit(main(imports, program))

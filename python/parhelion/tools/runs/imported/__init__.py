"""Results of other benchmarks, read from what they print: OSU Micro-Benchmarks and the Intel MPI Benchmarks (IMB).

A format per file; what they have in common is in `table` and `run`.
"""

from .run import import_files

__all__ = ["import_files"]

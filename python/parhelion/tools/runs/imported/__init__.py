"""Results of other benchmarks, read from what they print: OSU Micro-Benchmarks and the Intel MPI Benchmarks (IMB)."""

from .run import import_files

__all__ = ["import_files"]

"""The test of a machine's software images as a whole. `run` writes all that is measured of one image into one folder;
`compare` lays two such folders side by side and ranks what could explain the difference.

Single benchmarks and their options belong to `bench`, verdicts to `comparing`, samples of perf to `profiling`.
"""

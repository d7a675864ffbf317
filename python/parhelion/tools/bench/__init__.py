"""The benchmarks: a file each with its options and cases, `gather` a folder; `run` takes any from options to exit status.

`demo` and `matrix` are made of them; ranks of `ghosts` run `ghosts_program`. What cases share is in `cases`,
what all runs share in `measuring` and `tables`.
"""

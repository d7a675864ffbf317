"""The benchmarks: one folder each with its options, cases and peers; `run` takes any from options to exit status.

`demo` and `matrix` are made of them; ranks of `ghosts` run `ghosts_program`. What all share is in `measuring` and `tables`.
"""

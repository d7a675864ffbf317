"""The measuring program of `parhelion bench ghosts`: runs on every rank, in Python, as the published benchmark did.

Started as `python -m parhelion.measure.ghosts_program OPTIONS`; options and record are those of phl-bench.
"""

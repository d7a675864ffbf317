"""Veros, a model of the ocean (PyPI), with its own exchange of overlaps and with this library's put in its place from outside.

Started as `python -m parhelion.measure.veros_program OPTIONS`; options and record are those of phl-bench.
"""

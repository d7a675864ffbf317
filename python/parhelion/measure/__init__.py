"""Measurements, from options to records: `cases` × `sides` (builds, networks, interleaved A/B), launched by `run`, followed by `ranks`. The
ranks do the timing.
"""

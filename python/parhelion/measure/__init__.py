"""Measurements, from options to records: the cases of a `measurement` × `sides` (builds, networks, interleaved A/B), launched and followed
by `run`. The ranks do the timing.
"""

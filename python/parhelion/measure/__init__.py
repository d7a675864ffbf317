"""Measurements, from options to records: a `measurement` has the cases, `run` launches them and follows the ranks, which do the timing;
`sides` are builds, networks and interleaved A/B.
"""

"""Who sends what to whom, and doing it: patterns, fields of NumPy arrays, exchanges, index maps, sums of shared
points, moves between domains, names of transports.

Row arrays are in `ghosts`.
"""

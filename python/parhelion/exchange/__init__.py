"""Who sends what to whom, and doing it: patterns, fields of NumPy arrays, exchanges, names of transports.

Row arrays are in `ghosts`.
"""

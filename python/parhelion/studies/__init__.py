"""Studies: published figures, the cost model fitted to them, the exchange simulated on machines that are not here.

Users need none of it.
"""

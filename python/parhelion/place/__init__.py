"""Placement beyond the library: cases from options, graphs of parts, rank files, the cost model, and the exchange simulated."""

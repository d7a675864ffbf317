"""Placement tools: cases from options, graphs of parts, rank files, the cost model, and simulated exchanges."""

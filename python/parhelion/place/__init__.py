"""Placement tools: cases from options, rank files, the cost model, and simulated exchanges."""

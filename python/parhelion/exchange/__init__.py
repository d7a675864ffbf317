"""Patterns, exchanges, transports, index maps, sums of shared points, and moves between domains. Row arrays are in `ghosts`."""

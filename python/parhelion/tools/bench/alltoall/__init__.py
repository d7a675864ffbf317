"""`parhelion bench alltoall`."""

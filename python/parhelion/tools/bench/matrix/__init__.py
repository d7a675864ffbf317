"""`parhelion matrix`: a benchmark under every combination of MPI and network."""

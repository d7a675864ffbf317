"""`parhelion bench halo`."""

"""`parhelion bench setup`."""

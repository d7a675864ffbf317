"""`parhelion profile compare`: what changed between two profiles."""
